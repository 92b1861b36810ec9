"""Write results as sentences, tables, files of corrected metrics, scripts and reports."""
