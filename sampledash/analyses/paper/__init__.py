"""The Paper page: numbers and statements printed in the papers, compared with our results."""
