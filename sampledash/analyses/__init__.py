"""Computations, sentences and pictures of every dashboard page, independent of Streamlit."""
