"""From sampled ranks to the exact metric: rank distributions, learned vectors, estimates."""
