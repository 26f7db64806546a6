package storebench.reader;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Finds fields among a table's columns. */
final class Order {
    private Order() {}

    /** Returns the column of each field. Throws MismatchException if the table has other fields. */
    static int[] of(String[] fields, String[] columns) {
        List<String> found = Arrays.asList(columns);
        List<String> wanted = Arrays.asList(fields);
        if (found.size() != wanted.size() || !new HashSet<>(found).equals(Set.copyOf(wanted))) {
            throw new MismatchException(
                    "missing fields: " + without(wanted, found) + "; unknown fields: " + without(found, wanted));
        }
        return wanted.stream().mapToInt(found::indexOf).toArray();
    }

    private static List<String> without(List<String> names, List<String> others) {
        return names.stream().filter(name -> !others.contains(name)).toList();
    }
}
