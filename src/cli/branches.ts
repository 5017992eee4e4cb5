/** What is drawn of one member of a tree: its name, and the cells beside it. Lines of the last cell stand below one another. */
export interface Branch {
  name: string;
  cells: readonly string[];
  children: readonly Branch[];
}

/** The rows of a tree, each with its branches before its name. */
export function drawnTree(root: Branch): string[][] {
  const rows: string[][] = [];
  const draw = ({ name, cells, children }: Branch, lead: string, below: string): void => {
    const [first = "", ...more] = (cells.at(-1) ?? "").split("\n");
    rows.push([`${lead}${name}`, ...cells.slice(0, -1), first]);
    const rule = children.length > 0 ? "│" : "";
    for (const line of more) rows.push([`${below}${rule}`, ...cells.slice(1).map(() => ""), line]);
    children.forEach((child, i) => {
      const isLast = i === children.length - 1;
      draw(child, `${below}${isLast ? "└─" : "├─"}`, `${below}${isLast ? "  " : "│ "}`);
    });
  };
  draw(root, "", "");
  return rows;
}
