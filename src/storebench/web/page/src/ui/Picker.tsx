import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { usePopup } from "./popup";

export interface PickerOption {
  id: string;
  /** The option's text, which the search finds. */
  text: string;
  /** Further text that the search finds. */
  also?: string;
  /** The name of the filter that shows the option. */
  group?: string;
  /** The tooltip of the option. */
  title?: string;
  /** The content that is shown instead of the text. */
  children?: ReactNode;
}

interface Props {
  label: string;
  /** The text of the chosen option. */
  shown: ReactNode;
  title?: string | undefined;
  chosen: string | undefined;
  options: PickerOption[];
  onChoose: (id: string) => void;
  onOpen?: () => void;
}

/** Show a button that opens a list of options with a search, and with a filter for each group of options. */
export function Picker(props: Props) {
  const { label, shown, title, onChoose, onOpen } = props;
  const { ref, open, setOpen } = usePopup<HTMLDivElement>();
  const id = useId();
  const toggle = () => {
    if (!open) onOpen?.();
    setOpen(!open);
  };
  const choose = (option: string) => {
    setOpen(false);
    ref.current?.querySelector<HTMLElement>("[aria-expanded]")?.focus();
    onChoose(option);
  };
  return (
    <div className="sb-field sb-picker" ref={ref}>
      <span id={`${id}-label`}>{label}</span>
      <span className="sb-popup-anchor">
        <button
          type="button"
          id={`${id}-button`}
          className="sb-menu-button"
          aria-haspopup="dialog"
          aria-expanded={open}
          aria-labelledby={`${id}-label ${id}-button`}
          title={title}
          onClick={toggle}
        >
          <span className="sb-picked">{shown}</span>
        </button>
        {open ? <Search {...props} onChoose={choose} /> : null}
      </span>
    </div>
  );
}

const MOST = 200;

/** Show the search, the filters and the options. The keyboard stays in the search: arrows and Enter choose an option. */
function Search({ label, chosen, options, onChoose }: Props) {
  const id = useId();
  const [text, setText] = useState("");
  const [group, setGroup] = useState("");
  const [place, setPlace] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = options.filter((option) => {
    const searched = `${option.text} ${option.also ?? ""} ${option.id}`.toLowerCase();
    return (!group || option.group === group) && words.every((word) => searched.includes(word));
  });
  const listed = matching.slice(0, MOST);
  const groups = [...new Set(options.flatMap((option) => option.group ?? []))];
  const current = Math.min(place, listed.length - 1);
  const optionId = (at: number) => `${id}-${at}`;
  const move = (to: number) => {
    setPlace(to);
    document.getElementById(optionId(to))?.scrollIntoView?.({ block: "nearest" });
  };
  const key = (event: KeyboardEvent) => {
    const option = listed[current];
    if (event.key === "ArrowDown") move(Math.min(current + 1, listed.length - 1));
    else if (event.key === "ArrowUp") move(Math.max(current - 1, 0));
    else if (event.key === "Enter" && option) onChoose(option.id);
    else return;
    event.preventDefault();
  };
  return (
    <div className="sb-popup sb-search" role="dialog" aria-label={`Choose: ${label}`}>
      <input
        role="combobox"
        aria-label={`Search: ${label}`}
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={listed.length ? optionId(current) : undefined}
        // biome-ignore lint/a11y/noAutofocus: the user has just opened the search
        autoFocus
        placeholder="Search"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setPlace(0);
        }}
        onKeyDown={key}
      />
      {groups.length > 1 ? (
        <fieldset className="sb-key sb-segments" aria-label="Filter">
          {["", ...groups].map((name) => (
            <button key={name} type="button" aria-pressed={group === name} onClick={() => setGroup(name)}>
              {name || "all"}
            </button>
          ))}
        </fieldset>
      ) : null}
      <div id={`${id}-list`} role="listbox" aria-label={label} tabIndex={-1}>
        {listed.map((option, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the search handles the keyboard
          <div
            key={option.id}
            id={optionId(at)}
            role="option"
            tabIndex={-1}
            aria-selected={option.id === chosen}
            className={at === current ? "sb-current" : undefined}
            title={option.title}
            onClick={() => onChoose(option.id)}
          >
            {option.children ?? option.text}
          </div>
        ))}
      </div>
      {listed.length ? null : <p className="sb-note">Nothing matches.</p>}
      {listed.length < matching.length ? (
        <p className="sb-note">The first {MOST} are listed: search to see others.</p>
      ) : null}
    </div>
  );
}
