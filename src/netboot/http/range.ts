/** What a request wants of a file of a known size. Ends are inclusive, as HTTP counts. */
export type Wanted = { is: "whole" } | { is: "part"; first: number; last: number } | { is: "beyond" };

/**
 * Reads a Range header (RFC 9110 §14.2). One range of bytes is honoured; several, other units and what is malformed are
 * passed over, which the RFC allows, and the whole is sent. `beyond`: the range starts after the end, to be answered 416.
 */
export function wanted(range: string | undefined, size: number): Wanted {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(range ?? "");
  const [from, to] = [match?.[1] ?? "", match?.[2] ?? ""];
  if (from === "" && to === "") return { is: "whole" };
  if (from === "") {
    const suffix = Math.min(Number(to), size);
    return suffix === 0 ? { is: "beyond" } : { is: "part", first: size - suffix, last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return { is: "whole" };
  if (first >= size) return { is: "beyond" };
  return { is: "part", first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
