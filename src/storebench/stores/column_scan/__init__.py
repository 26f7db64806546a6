"""The sum of one column, cold and hot: a store is a tool, and what they share stands beside them."""
