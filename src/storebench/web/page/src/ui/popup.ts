import { type RefObject, useEffect, useRef, useState } from "react";

export interface Popup<T extends HTMLElement> {
  /** The element that contains both the button and the popup. */
  ref: RefObject<T | null>;
  open: boolean;
  setOpen: (open: boolean) => void;
}

/** Open and close a popup. Escape, a click elsewhere, and a focus elsewhere close the popup; Escape returns the focus to its button. */
export function usePopup<T extends HTMLElement>(): Popup<T> {
  const ref = useRef<T>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    const elsewhere = (event: Event) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      ref.current?.querySelector<HTMLElement>("[aria-expanded]")?.focus();
    };
    document.addEventListener("pointerdown", elsewhere);
    document.addEventListener("focusin", elsewhere);
    document.addEventListener("keydown", key);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("focusin", elsewhere);
      document.removeEventListener("keydown", key);
    };
  }, [open]);
  return { ref, open, setOpen };
}
