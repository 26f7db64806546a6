import { useEffect, useRef, useState } from "react";

/** An error answer: `status` is the HTTP status, 0 without an answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The parameters of a query. A list becomes several parameters of the same name. */
export type Query = Record<string, string | number | boolean | string[] | undefined>;

/** A page of a list: `more` tells whether items follow. */
export interface Page<T> {
  items: T[];
  offset: number;
  more: boolean;
}

/** Build a URL below Airflow's base URL, which may have a path. */
function below(path: string, query: Query): string {
  const url = new URL(path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) url.searchParams.append(name, String(one));
  }
  return url.href;
}

/** Return the URL of an endpoint of the page's own API. */
export const address = (path: string, query: Query = {}) => below(`storebench/api/${path}`, query);

/** Return the URL of an endpoint of Airflow's own API. */
export const airflowAddress = (path: string, query: Query = {}) => below(`api/v2/${path}`, query);

export function get<T>(url: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(url, { signal, headers: { accept: "application/json" } });
}

/** Send JSON to a URL, and return the answer. */
export function post<T>(url: string, body: unknown): Promise<T> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return ask<T>(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Send a request as the logged-in user: Airflow identifies the user by its cookie. */
async function ask<T>(url: string, request: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...request });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw new Problem(0, "Airflow does not answer");
  }
  if (response.ok) return (await response.json()) as T;
  const body = await response.json().catch(() => ({}));
  const detail = (body as { detail?: unknown }).detail;
  throw new Problem(response.status, typeof detail === "string" ? detail : response.statusText);
}

/** Return all items of a paged answer, or the first `most` items. */
export async function all<T>(
  path: string,
  query: Query,
  signal?: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const items: T[] = [];
  const limit = Number(query.limit ?? 100);
  for (let offset = Number(query.offset ?? 0); ; ) {
    const page = await get<Page<T>>(address(path, { ...query, limit, offset }), signal);
    items.push(...page.items);
    if (!page.more || items.length >= most) return items.slice(0, most);
    offset += limit;
  }
}

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

/** Begin to load the data that `useLoaded` will request by this key: Airflow renders a page only some time after its script arrives. */
export function begin<T>(key: string, load: Promise<T>): Promise<T> {
  const one: Begun = { load };
  begun.set(key, one);
  load.then(
    (data) => {
      one.data = data;
    },
    () => {}, // `useLoaded` reports the error
  );
  return load;
}

/** Return the result of a load that was begun earlier. */
function cameOf<T>(key: string): Loaded<T> & { key?: string } {
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
  const [state, setState] = useState(() => cameOf<T>(key));
  const current = useRef(load);
  current.current = load;
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
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
      if (everyMs && !abort.signal.aborted) timer = setTimeout(look, everyMs);
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs]);
  return state.key === key ? state : cameOf<T>(key);
}
