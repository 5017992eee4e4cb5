/** One line of a difference between two texts. */
export interface DiffLine {
  is: "same" | "added" | "removed";
  text: string;
}

/** Above so many pairs of differing lines, they are shown as removed and added as a whole. */
const MOST_PAIRS = 4_000_000;

/** The difference between two texts, line by line: the fewest lines are added and removed. Pure. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let [start, end] = [0, 0];
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ is: "same", text }));
  return [
    ...same(old.slice(0, start)),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...same(old.slice(old.length - end)),
  ];
}

/** By the longest common subsequence. */
function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ is: "removed", text });
  const added = (text: string): DiffLine => ({ is: "added", text });
  if (old.length * now.length > MOST_PAIRS) return [...old.map(removed), ...now.map(added)];
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      longest[i * width + j] =
        old[i] === now[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      lines.push({ is: "same", text: old[i]! });
      i++;
      j++;
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) lines.push(removed(old[i++]!));
    else lines.push(added(now[j++]!));
  }
  return [...lines, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}

/** Only what changed, with so many lines around; `null` stands for lines that are left out. Pure. */
export function changedLines(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const kept = new Set<number>();
  for (const [index, { is }] of lines.entries())
    if (is !== "same") for (let near = index - around; near <= index + around; near++) kept.add(near);
  return lines.flatMap((line, index) => {
    if (kept.has(index)) return [line];
    return index === 0 || kept.has(index - 1) ? [null] : [];
  });
}
