package storebench.reader;

import java.io.IOException;

/** A library that reads a Delta table. */
interface TableReader {
    /** The library's name and version, as it gives them itself. */
    String name();

    String version();

    /** Opens the table and reads every value of every row once; returns the rows seen. */
    long read() throws IOException;

    /**
     * Hands each row to `sink`: its values in the order of `fields`, null where there is none. The array is used again for
     * the next row. Throws MismatchException for a table that does not have just these fields.
     */
    void scan(String[] fields, RowSink sink) throws IOException;

    interface RowSink {
        void accept(Object[] values);
    }
}
