package storebench.reader;

import java.io.IOException;
import java.util.Arrays;

/** A library that reads row by row. */
interface RowReader extends TableReader {
    /**
     * Passes each row to `sink`: its values in the order of `fields`, or null for a missing value. The array is reused for the
     * next row. Throws MismatchException for a table with other fields.
     */
    void scan(String[] fields, RowSink sink) throws IOException;

    @Override
    default Checksum checksum(Field[] fields) throws IOException {
        Checksum checksum = new Checksum(fields);
        scan(Arrays.stream(fields).map(Field::name).toArray(String[]::new), checksum::add);
        return checksum;
    }

    interface RowSink {
        void accept(Object[] values);
    }
}
