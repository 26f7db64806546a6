module storebench/agent

go 1.26
