"""Small faults, put in one by one: which of them does no test notice?"""
