"""Pictures: pure functions that take arrays and return a Plotly figure."""
