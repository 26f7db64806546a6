import { type ReactNode, useId } from "react";

interface Props {
  title: ReactNode;
  /** The level of the title. */
  heading?: "h2" | "h3" | "h4";
  /** Small texts or badges beside the title. */
  beside?: ReactNode;
  /** The card's menu, at its upper right corner. */
  menu?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** Show a card: a title with room for badges and a menu, and the content. */
export function Card({ title, heading: Heading = "h3", beside, menu, className, children }: Props) {
  const id = useId();
  return (
    <section className={["sb-card", className].filter(Boolean).join(" ")} aria-labelledby={id}>
      <header>
        <Heading id={id}>{title}</Heading>
        {beside}
        {menu ? <div className="sb-card-menu">{menu}</div> : null}
      </header>
      <div className="sb-card-body">{children}</div>
    </section>
  );
}
