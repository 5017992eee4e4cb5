import type { ComponentChildren } from "preact";

export interface Cell<T> {
  head: string;
  cell(row: T): ComponentChildren;
  /** Left out on narrow screens. */
  wide?: boolean;
}

/** A plain table for a few rows. */
export function Table<T>({
  label,
  cells,
  rows,
  keyOf,
}: {
  label: string;
  cells: readonly Cell<T>[];
  rows: readonly T[];
  keyOf(row: T, index: number): string;
}) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {cells.map(({ head, wide }) => (
              <th key={head} scope="col" class={wide ? "wide" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {cells.map(({ head, cell, wide }) => (
                <td key={head} class={wide ? "wide" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
