/** The request packet of TFTP holds no more (RFC 2347 §"Packet formats"), and no boot file needs more. */
const MAX_LENGTH = 512;

/**
 * A requested name as sources know it: parts joined by `/`, none in front. Firmware writes `\` for `/` and leading
 * slashes, both are accepted; single dots and empty parts vanish. Undefined for what no source may ever see: a part
 * that begins with a dot (`..` and hidden files), control characters, characters beyond ASCII, an empty or overlong name.
 */
export function fileName(requested: string): string | undefined {
  if (requested.length > MAX_LENGTH || !/^[\x20-\x7e]*$/.test(requested)) return undefined;
  const parts = requested.split(/[\\/]/).filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 || parts.some((part) => part.startsWith("."))) return undefined;
  return parts.join("/");
}
