import { useEffect, useState } from "react";

/** What is being typed, as it was when the keys last rested: each question to the database is asked once. */
export function useSettled<T>(typed: T, afterMs = 300): T {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), afterMs);
    return () => clearTimeout(timer);
  }, [typed, afterMs]);
  return settled;
}
