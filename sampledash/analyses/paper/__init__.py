"""The Paper page: every number and statement printed in the papers, compared with our results."""
