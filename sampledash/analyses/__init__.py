"""The analyses: questions, results, sentences and pictures of every page, without Streamlit."""
