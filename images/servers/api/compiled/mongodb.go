package main

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

const (
	mongodbDatabase = "storebench"
	uuidSubtype     = 4
)

type mongodb struct{ host, port string }

// document has the entity's fields in the order of the Python client.
type document struct {
	ID          bson.Binary `bson:"_id"`
	Name        *string     `bson:"name"`
	Age         *int        `bson:"age"`
	Description *string     `bson:"description"`
	Address     *string     `bson:"address"`
	Phone       *string     `bson:"phone"`
	Email       *string     `bson:"email"`
}

type collection struct{ *mongo.Collection }

func (m *mongodb) open(table, consistency string) (table, error) {
	return m.collection(table, consistency)
}

func (m *mongodb) collection(name, consistency string) (*collection, error) {
	port := m.port
	if port == "" {
		port = "27017"
	}
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + m.host + ":" + port).
		SetMaxPoolSize(pool).SetMinPoolSize(pool).SetRetryWrites(false).SetRetryReads(false).SetServerSelectionTimeout(timeout))
	if err != nil {
		return nil, err
	}
	write, read := concerns(consistency)
	found := client.Database(mongodbDatabase).Collection(name, options.Collection().SetWriteConcern(write).SetReadConcern(read))
	return &collection{found}, nil
}

// concerns returns concerns that differ only in the number of copies, like the Python client: by default, a mongod adds the journal to a majority.
func concerns(consistency string) (*writeconcern.WriteConcern, *readconcern.ReadConcern) {
	write, read := writeconcern.W1(), readconcern.Local()
	if consistency == "quorum" {
		write, read = writeconcern.Majority(), readconcern.Majority()
	}
	journal := false
	write.Journal = &journal
	return write, read
}

func (c *collection) insert(ctx context.Context, e *Entity) error {
	_, err := c.InsertOne(ctx, document{
		bson.Binary{Subtype: uuidSubtype, Data: e.ID[:]}, e.Name, e.Age, e.Description, e.Address, e.Phone, e.Email,
	})
	return err
}

func (c *collection) get(ctx context.Context, id UUID) (*Entity, error) {
	var d document
	err := c.FindOne(ctx, bson.D{{Key: "_id", Value: bson.Binary{Subtype: uuidSubtype, Data: id[:]}}}).Decode(&d)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Entity{&id, d.Name, d.Age, d.Description, d.Address, d.Phone, d.Email}, nil
}

func (c *collection) close() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = c.Database().Client().Disconnect(ctx) // an error means that the connections have gone
}

func (*mongodb) timedOut(err error) bool { return mongo.IsTimeout(err) }

func (*mongodb) unreachable(err error) bool { return mongo.IsNetworkError(err) }
