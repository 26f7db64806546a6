package storebench.reader;

import java.io.IOException;
import java.util.Map;

/** A library that reads a Delta table. */
interface TableReader {
    /** The library's name and version, as it gives them itself. */
    String name();

    String version();

    /** What it does as it does for the machine that it found. */
    default Map<String, Object> clientSettings() {
        return Map.of();
    }

    /** Opens the table and reads every value of every row once; returns the rows seen. */
    long read() throws IOException;

    /** The checksum of the table's rows, read as `read` does. Throws MismatchException where it does not have just these fields. */
    Checksum checksum(Field[] fields) throws IOException;
}
