package storebench.reader;

import java.io.IOException;
import java.util.Map;

/** A library that reads a Delta table. */
interface TableReader {
    /** Returns the library's name and version, as the library reports them. */
    String name();

    String version();

    /** Returns the settings that the library chooses by the machine. */
    default Map<String, Object> clientSettings() {
        return Map.of();
    }

    /** Opens the table and reads every value of every row once; returns the rows seen. */
    long read() throws IOException;

    /** Returns the checksum of the table's rows, read as in `read`. Throws MismatchException for a table with other fields. */
    Checksum checksum(Field[] fields) throws IOException;
}
