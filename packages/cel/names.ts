/** Words of CEL that a field can't be named by; `__true__` stands for the field `true` (KEP-2876). */
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

/** The name by which a CEL rule reaches a field: `.`, `-`, `/` and `__` are written in words. */
export function escapeField(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  if (/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return name;
  return name.replace(/__|[./-]/g, (part) => {
    switch (part) {
      case "__":
        return "__underscores__";
      case ".":
        return "__dot__";
      case "/":
        return "__slash__";
      default:
        return "__dash__";
    }
  });
}

/** Whether a field can be named in a rule at all. */
export function isReachable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escapeField(name));
}
