import { dump } from "js-yaml";

/**
 * A value as `#cloud-config`, which cloud-init and subiquity read. Every text is quoted, so that YAML 1.1 reads none of them as a number, a
 * truth value or a time (`no`, `1e3`, the MAC address `52:54:00:12:34:56`). Keys whose value is undefined are left out.
 */
export function cloudConfig(value: object): string {
  return `#cloud-config\n${yaml(value)}`;
}

/** The same without its first line. */
export function yaml(value: object): string {
  return dump(defined(value), { forceQuotes: true, quoteStyle: "double", lineWidth: -1, noRefs: true });
}

function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, defined(item)]),
  );
}
