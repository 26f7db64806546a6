import { useEffect, useState } from "react";

/** Return a typed value after typing pauses for `afterMs`, so that not every key triggers a query. */
export function useSettled<T>(typed: T, afterMs = 300): T {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), afterMs);
    return () => clearTimeout(timer);
  }, [typed, afterMs]);
  return settled;
}
