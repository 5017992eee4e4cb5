import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface ListColumn<T> {
  id: string;
  head: string;
  cell(row: T): ComponentChildren;
  /** Share of the width. */
  grow: number;
  wide?: boolean;
}

interface Props<T> {
  label: string;
  columns: readonly ListColumn<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  sortedBy: string;
  descending: boolean;
  onSort(column: string): void;
  /** Index of the row that the keyboard is at. */
  current: number;
  onOpen(row: T): void;
}

const ROW_PX = 34;
/** Rows above and below those in view, so that a fast scroll shows none that is blank. */
const SPARE = 24;

/** A table of any length: only the rows in view are in the document. */
export function LongList<T>(props: Props<T>) {
  const { label, columns, rows, current } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(800);
  useEffect(() => {
    const element = box.current!;
    const look = (): void => {
      top.value = element.scrollTop;
      height.value = element.clientHeight;
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    const element = box.current!;
    if (current < 0) return;
    const [above, below] = [current * ROW_PX, (current + 2) * ROW_PX - element.clientHeight];
    if (element.scrollTop > above) element.scrollTop = above;
    else if (element.scrollTop < below) element.scrollTop = below;
  }, [current]);
  const first = Math.max(0, Math.floor(top.value / ROW_PX) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / ROW_PX) + SPARE);
  const grid = { gridTemplateColumns: columns.map(({ grow }) => `minmax(0, ${grow}fr)`).join(" ") };
  return (
    <div class="long" role="table" aria-label={label} aria-rowcount={rows.length + 1} ref={box} tabIndex={0}>
      <Heads {...props} grid={grid} />
      <div role="rowgroup" class="rows" style={{ height: `${rows.length * ROW_PX}px` }}>
        {rows.slice(first, last).map((row, offset) => (
          <ListRow key={props.keyOf(row)} {...props} row={row} index={first + offset} grid={grid} />
        ))}
      </div>
    </div>
  );
}

function Heads<T>({ columns, sortedBy, descending, onSort, grid }: Props<T> & { grid: Record<string, string> }) {
  return (
    <div role="rowgroup" class="heads">
      <div role="row" aria-rowindex={1} class="row" style={grid}>
        {columns.map(({ id, head, wide }) => (
          <div
            key={id}
            role="columnheader"
            class={wide ? "wide" : undefined}
            aria-sort={sortedBy === id ? (descending ? "descending" : "ascending") : "none"}
          >
            <button type="button" class="plain" onClick={() => onSort(id)}>
              {head}
              <span aria-hidden="true">{sortedBy === id ? (descending ? " ↓" : " ↑") : ""}</span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

function ListRow<T>({
  columns,
  row,
  index,
  current,
  onOpen,
  grid,
}: Props<T> & { row: T; index: number; grid: Record<string, string> }) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      class={`row${index === current ? " current" : ""}`}
      style={{ ...grid, transform: `translateY(${index * ROW_PX}px)` }}
      onDblClick={() => onOpen(row)}
    >
      {columns.map(({ id, cell, wide }) => {
        const content = cell(row);
        // Rows are of one height: what is cut off is read in full when it is pointed at.
        return (
          <div
            key={id}
            role="cell"
            class={wide ? "wide" : undefined}
            title={typeof content === "string" ? content : ""}
          >
            {content}
          </div>
        );
      })}
    </div>
  );
}
