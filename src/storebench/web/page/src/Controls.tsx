import { type Choice, hiddenOf, moved, ordered, SCALES, scaleOf, toggled } from "./choice";

/** Which of two or more scales the charts have. */
export function ScaleMenu({ choice: { asked, choose } }: { choice: Choice }) {
  return (
    <label className="sb-field">
      Scale
      <select value={scaleOf(asked)} onChange={(event) => choose({ scale: event.target.value })}>
        {Object.entries(SCALES).map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which stores are shown, and in which order. */
export function Stores({ stores, choice: { asked, choose } }: { stores: string[]; choice: Choice }) {
  const hidden = hiddenOf(asked, "store");
  const shown = ordered(asked, stores);
  if (stores.length < 2) return null;
  return (
    <fieldset className="sb-key">
      <legend>Stores</legend>
      {shown.map((store, place) => (
        <span key={store} className="sb-store">
          <button
            type="button"
            disabled={place === 0}
            aria-label={`Move ${store} up`}
            onClick={() => choose(moved(asked, stores, store, -1))}
          >
            ↑
          </button>
          <button
            type="button"
            disabled={place === shown.length - 1}
            aria-label={`Move ${store} down`}
            onClick={() => choose(moved(asked, stores, store, 1))}
          >
            ↓
          </button>
          <label>
            <input
              type="checkbox"
              checked={!hidden.has(store)}
              onChange={() => choose(toggled(asked, "store", store))}
            />
            {store}
          </label>
        </span>
      ))}
    </fieldset>
  );
}
