/** What the simulated Latitude.sh sells: names as in the service's public catalogue. */
export const SITES = "ASH BUE CHI DAL FRA LAX LON MEX MEX2 MIA MIA2 NYC SAO SAO2 SGP SYD TYO TYO2".split(" ");

export const PLANS = [
  "c2-large-x86 c2-medium-x86 c2-small-x86 c3-large-x86 c3-medium-x86 c3-small-x86 c3-xlarge-x86",
  "g3-gh200 g3-large-x86 g3-medium-x86 g3-small-x86 g3-xlarge-x86 g4-rtx6kpro-large",
  "m3-large-x86 m4-metal-large m4-metal-small rs4-metal-xlarge s2-small-x86 s3-large-x86",
].flatMap((line) => line.split(" "));

export const OPERATING_SYSTEMS = [
  "centos_7_4_x64 centos_8_x64 debian_10 debian_11 debian_12 ipxe rhel8 rockylinux_8",
  "ubuntu22_ml_in_a_box ubuntu24_ml_in_a_box ubuntu_20_04_x64_lts ubuntu_22_04_x64_lts ubuntu_24_04_x64_lts",
  "windows_2022_std windows_server_2019_std_v1",
].flatMap((line) => line.split(" "));

/** US dollars an hour by the size in a plan's name: no price of the service's, but one that stands in its place. */
const HOURLY: Readonly<Record<string, number>> = { small: 0.25, medium: 0.5, large: 1, xlarge: 2 };
const HOURS_A_MONTH = 730;

/** What a plan costs. */
export function priceOf(plan: string): { hour: number; month: number; year: number } {
  const size = plan.split("-").find((word) => Object.hasOwn(HOURLY, word));
  const hour = HOURLY[size ?? "xlarge"]!;
  return { hour, month: hour * HOURS_A_MONTH, year: 12 * hour * HOURS_A_MONTH };
}
