/** Which test files share a process: those of a folder. What they import is then loaded and compiled once, not by each. */

/** Of one process: enough to share what is loaded, few enough that two cores end at about the same time. */
const MOST = 40;

export interface Group {
  /** For a file's name. */
  name: string;
  files: string[];
}

/** The files, below the tree's root, by the first two folders of their paths; a folder of many is dealt out evenly. Pure. */
export function groupsOf(files: readonly string[]): Group[] {
  const folders = Map.groupBy([...files].sort(), (file) => file.split("/").slice(0, -1).slice(0, 2).join("-"));
  return [...folders].flatMap(([name, all]) => {
    const size = Math.ceil(all.length / Math.ceil(all.length / MOST));
    const parts = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
      all.slice(at * size, (at + 1) * size),
    );
    return parts.map((files, at) => ({ name: parts.length === 1 ? name : `${name}-${at + 1}`, files }));
  });
}
