/** First letters of retired facility codes that were named after an airport → the metro that took their place. */
const AIRPORTS: Readonly<Record<string, string>> = {
  ams: "am",
  atl: "at",
  dfw: "da",
  ewr: "ny",
  fra: "fr",
  hkg: "hk",
  iad: "dc",
  lax: "la",
  nrt: "ty",
  ord: "ch",
  sea: "se",
  sin: "sg",
  sjc: "sv",
  syd: "sy",
  yyz: "tr",
};

/** The metro of a retired facility: `ny5` → `ny`, `ewr1` → `ny`. Undefined for a code without a metro (`any`). */
export function metroOf(facility: string): string | undefined {
  const code = /^([a-z]{2,3})\d+$/i.exec(facility)?.[1]?.toLowerCase();
  if (code === undefined) return undefined;
  return code.length === 2 ? code : AIRPORTS[code];
}
