"""A question each: what is asked, its result, its words and its pictures; no Streamlit."""
