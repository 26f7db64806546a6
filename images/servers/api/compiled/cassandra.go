package main

import (
	"context"
	"errors"
	"strconv"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

const (
	insertEntity = "INSERT INTO entities (id, name, age, description, address, phone, email) VALUES (?, ?, ?, ?, ?, ?, ?)"
	selectEntity = "SELECT name, age, description, address, phone, email FROM entities WHERE id = ?"
)

type cassandra struct{ host, port string }

// The driver prepares each statement once for each node.
type session struct{ *gocql.Session }

func (c *cassandra) open(table, consistency string) (table, error) {
	cluster := gocql.NewCluster(c.host)
	if c.port != "" {
		port, err := strconv.Atoi(c.port)
		if err != nil {
			return nil, err
		}
		cluster.Port = port
	}
	// The same name as in the Python client: a name has at most 48 characters.
	cluster.Keyspace = "storebench" + table[max(0, len(table)-17):]
	// protocol 4, like the Python service: docs/decisions/0028
	cluster.ProtoVersion, cluster.Timeout, cluster.ConnectTimeout = 4, timeout, timeout
	cluster.Consistency = gocql.One
	if consistency == "quorum" {
		cluster.Consistency = gocql.Quorum
	}
	cluster.RetryPolicy = &gocql.SimpleRetryPolicy{NumRetries: 0} // no silent retries: the measured time would include them
	cluster.PoolConfig.HostSelectionPolicy = gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())
	found, err := cluster.CreateSession()
	if err != nil {
		return nil, err
	}
	return session{found}, nil
}

func (s session) insert(ctx context.Context, e *Entity) error {
	return s.Query(insertEntity, gocql.UUID(*e.ID), e.Name, e.Age, e.Description, e.Address, e.Phone, e.Email).ExecContext(ctx)
}

func (s session) get(ctx context.Context, id UUID) (*Entity, error) {
	e := Entity{ID: &id}
	err := s.Query(selectEntity, gocql.UUID(id)).ScanContext(ctx, &e.Name, &e.Age, &e.Description, &e.Address, &e.Phone, &e.Email)
	if errors.Is(err, gocql.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}

func (s session) close() { s.Close() }

func (*cassandra) timedOut(err error) bool {
	var write *gocql.RequestErrWriteTimeout
	var read *gocql.RequestErrReadTimeout
	return errors.Is(err, gocql.ErrTimeoutNoResponse) || errors.As(err, &write) || errors.As(err, &read)
}

func (*cassandra) unreachable(err error) bool {
	return errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrConnectionClosed)
}
