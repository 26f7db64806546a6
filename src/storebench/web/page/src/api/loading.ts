import { useEffect, useRef, useState } from "react";
import { Problem } from "./api";

export interface Loaded<T> {
  data?: T;
  problem?: Problem;
}

interface Begun {
  load: Promise<unknown>;
  /** The result, once the load has ended. */
  data?: unknown;
}
const begun = new Map<string, Begun>();

/**
 * Begin to load the data that `useLoaded` will request by this key: Airflow renders a page only some time after its script arrives.
 *
 * A failed load is forgotten, so that a later `useLoaded` asks again: a run that did not exist may exist by then.
 */
export function begin<T>(key: string, load: Promise<T>): Promise<T> {
  const entry: Begun = { load };
  begun.set(key, entry);
  load.then(
    (data) => {
      entry.data = data;
    },
    () => {
      if (begun.get(key) === entry) begun.delete(key);
    },
  );
  return load;
}

/** Return the result of a load that was begun earlier. */
function loadedEarlier<T>(key: string): Loaded<T> & { key?: string } {
  const data = begun.get(key)?.data as T | undefined;
  return data === undefined ? {} : { key, data };
}

/** Return the data of `load`, reloaded every `everyMs` while the page is visible. Older data stays until newer data arrives. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  key: string,
  everyMs?: number,
): Loaded<T> {
  // show data that is already loaded at once, without an empty page before it
  const [state, setState] = useState(() => loadedEarlier<T>(key));
  const current = useRef(load);
  current.current = load;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const update = async () => {
      if (!document.hidden) {
        try {
          const early = begun.get(key)?.load as Promise<T> | undefined;
          const data = await (early ?? current.current(abort.signal));
          const same = (before: Loaded<T> & { key?: string }) =>
            before.key === key && before.data === data && !before.problem;
          if (!abort.signal.aborted) setState((before) => (same(before) ? before : { key, data }));
        } catch (error) {
          if (abort.signal.aborted) return;
          const problem = error instanceof Problem ? error : new Problem(0, String(error));
          setState((before) => (before.key === key ? { ...before, problem } : { key, problem }));
        } finally {
          begun.delete(key);
        }
      }
      if (everyMs && !abort.signal.aborted) timer = setTimeout(update, everyMs);
    };
    void update();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs]);
  return state.key === key ? state : loadedEarlier<T>(key);
}

/** Return a typed value after typing pauses for `afterMs`, so that not every key triggers a query. */
export function useSettled<T>(typed: T, afterMs = 300): T {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), afterMs);
    return () => clearTimeout(timer);
  }, [typed, afterMs]);
  return settled;
}
