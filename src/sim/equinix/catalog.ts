/** What a plan's machine is made of. `bonds`: which ports stand in which bond. */
export interface PlanFacts {
  slug: string;
  bonds: readonly (readonly string[])[];
  firmware: "uefi" | "bios";
  diskGiB: number;
  cpus: number;
  memoryGiB: number;
  pricePerHour: number;
}

const TWO_PORTS = [["eth0", "eth1"]];
const FOUR_PORTS = [
  ["eth0", "eth1"],
  ["eth2", "eth3"],
];

const CATALOG: readonly PlanFacts[] = [
  plan("c3.small.x86", { cpus: 8, memoryGiB: 32, diskGiB: 480, pricePerHour: 0.75 }),
  plan("c3.medium.x86", { cpus: 24, memoryGiB: 64, diskGiB: 480, pricePerHour: 1.5 }),
  plan("c3.large.arm64", { cpus: 80, memoryGiB: 256, diskGiB: 960, pricePerHour: 2.5 }),
  plan("m3.small.x86", { cpus: 8, memoryGiB: 64, diskGiB: 480, pricePerHour: 1.05 }),
  plan("m3.large.x86", { cpus: 32, memoryGiB: 256, diskGiB: 3800, pricePerHour: 3.1 }),
  plan("s3.xlarge.x86", { cpus: 24, memoryGiB: 192, diskGiB: 960, pricePerHour: 2.95 }),
  plan("n2.xlarge.x86", { cpus: 28, memoryGiB: 384, diskGiB: 480, pricePerHour: 2.25, bonds: FOUR_PORTS }),
  plan("n3.xlarge.x86", { cpus: 32, memoryGiB: 512, diskGiB: 3800, pricePerHour: 4.5, bonds: FOUR_PORTS }),
  plan("x1.small.x86", { cpus: 4, memoryGiB: 32, diskGiB: 240, pricePerHour: 0.4, firmware: "bios" }),
];

const BY_SLUG = new Map(CATALOG.map((facts) => [facts.slug, facts]));

/** The plan's facts; a plan of the service's naming that is not listed is a plain two-port machine; undefined: no plan. */
export function planFacts(slug: string): PlanFacts | undefined {
  const known = BY_SLUG.get(slug);
  if (known !== undefined) return known;
  if (!/^[a-z]\d\.[a-z0-9]+(\.(x86|arm|arm64))?(\.\d+)?$/.test(slug)) return undefined;
  return plan(slug, { cpus: 16, memoryGiB: 64, diskGiB: 480, pricePerHour: 1 });
}

export const PLANS = CATALOG;

export const METROS: ReadonlyMap<string, { name: string; country: string }> = new Map(
  Object.entries({
    am: { name: "Amsterdam", country: "NL" },
    at: { name: "Atlanta", country: "US" },
    ch: { name: "Chicago", country: "US" },
    da: { name: "Dallas", country: "US" },
    dc: { name: "Washington DC", country: "US" },
    fr: { name: "Frankfurt", country: "DE" },
    hk: { name: "Hong Kong", country: "HK" },
    la: { name: "Los Angeles", country: "US" },
    ld: { name: "London", country: "GB" },
    md: { name: "Madrid", country: "ES" },
    mi: { name: "Miami", country: "US" },
    mt: { name: "Montreal", country: "CA" },
    ny: { name: "New York", country: "US" },
    pa: { name: "Paris", country: "FR" },
    se: { name: "Seattle", country: "US" },
    sg: { name: "Singapore", country: "SG" },
    sk: { name: "Stockholm", country: "SE" },
    sl: { name: "Seoul", country: "KR" },
    sp: { name: "Sao Paulo", country: "BR" },
    sv: { name: "Silicon Valley", country: "US" },
    sy: { name: "Sydney", country: "AU" },
    tr: { name: "Toronto", country: "CA" },
    ty: { name: "Tokyo", country: "JP" },
  }),
);

function plan(
  slug: string,
  facts: Pick<PlanFacts, "cpus" | "memoryGiB" | "diskGiB" | "pricePerHour"> & Partial<PlanFacts>,
): PlanFacts {
  return { slug, bonds: TWO_PORTS, firmware: "uefi", ...facts };
}
