import type { FormField, StoreRecord } from "../../api/types";
import { Items } from "./ListField";

interface Props {
  of: FormField;
  stores: StoreRecord[];
  value: string;
  set: (value: string) => void;
  problem?: string;
}

/** A store of the form, and the names with which the store runs on servers of its own: `STORE@TOPOLOGY`. */
interface StoreChoice {
  name: string;
  /** Whether the store itself is a value of the field. */
  selectable: boolean;
  elsewhere: string[];
}

/** Return the stores among the known values, each once. */
export function storesAmong(known: string[]): StoreChoice[] {
  const names = [...new Set(known.map((item) => item.split("@")[0] as string))];
  return names.map((name) => ({
    name,
    selectable: known.includes(name),
    elsewhere: known.filter((item) => item.startsWith(`${name}@`)),
  }));
}

/** Describe a store by its record: the kind of its server, and its clients. */
export function aboutStore(store: StoreRecord): string {
  const kind = store.floor
    ? "floor: the client without a store"
    : store.server === null
      ? "engine in the pod"
      : `server ${store.server}`;
  const clients = store.clients.length ? ` · client${store.clients.length === 1 ? "" : "s"} ` : "";
  return `${kind}${clients}${store.clients.join(", ")}`;
}

/** Show a card for each store: whether to measure the store, its kind, and the servers that a run can provision. */
export function StoreCards({ stores, ...field }: Props) {
  return (
    <Items {...field}>
      {({ known, isChosen, toggle }) => (
        <div className="sb-cards">
          {storesAmong(known).map(({ name, selectable, elsewhere }) => {
            const record = stores.find((store) => store.name === name);
            const active = [name, ...elsewhere].some(isChosen);
            return (
              <div key={name} className={active ? "sb-store-card sb-chosen" : "sb-store-card"}>
                {selectable ? (
                  <label>
                    <input type="checkbox" checked={isChosen(name)} onChange={() => toggle(name)} />{" "}
                    <strong>{name}</strong>
                  </label>
                ) : (
                  <strong>{name}</strong>
                )}
                {record ? <span className="sb-about">{aboutStore(record)}</span> : null}
                {elsewhere.length ? (
                  <details open={!selectable || elsewhere.some(isChosen)}>
                    <summary>servers that the run provisions</summary>
                    <div className="sb-chips">
                      {elsewhere.map((item) => (
                        <label key={item} className="sb-chip">
                          <input
                            type="checkbox"
                            aria-label={item}
                            checked={isChosen(item)}
                            onChange={() => toggle(item)}
                          />{" "}
                          {item.slice(name.length + 1)}
                        </label>
                      ))}
                    </div>
                  </details>
                ) : null}
              </div>
            );
          })}
        </div>
      )}
    </Items>
  );
}
