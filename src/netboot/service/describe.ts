import { bootCatalog } from "../boot/catalog.ts";
import { Reservations } from "../dhcp/reservations.ts";
import { compileSubnets } from "../dhcp/subnet.ts";
import { servedImages } from "../iso/served.ts";
import { authoritiesIn } from "../tpm/authorities.ts";
import type { NetbootPlace } from "./place.ts";
import { reachedAt } from "./reached-at.ts";
import { foreignNetworks, networkText } from "./speakers.ts";

const TRUSTED = {
  approved: "who is declared or approved",
  "first-seen": "first-seen: all who register, for laboratories only",
  "by-namespace": "who is declared or approved; all who register where a Namespace says first-seen",
} as const;

/** What would be served, line by line, and what is missing. Opens no port. Rejects with a `Fault` for settings that can't be served. */
export async function describe({ settings, assets }: NetbootPlace): Promise<string[]> {
  const { on, address, url, agentUrl } = reachedAt(settings);
  const { dhcp, tftp, syslog, api, boot, discovery } = settings;
  compileSubnets(dhcp.subnets);
  void new Reservations(dhcp.reservations);
  const { files: own, uefi, images, script = boot.unknown } = boot;
  await servedImages(images);
  const authorities = await authoritiesIn(settings.tpmAuthorities);
  const catalog = await bootCatalog({ assets, uefi, ...(own !== undefined && { own }) });
  const { files, urls } = catalog.bootFiles(url);
  const networks = dhcp.subnets.map(({ network, pools }) => {
    const ranges = pools.map(({ first, last }) => `${first}-${last}`).join(", ");
    return `  ${network}${ranges === "" ? "" : `: ${ranges}`}`;
  });
  return [
    `interface  ${on.name} (${address})`,
    `DHCP       ${dhcp.mode}, ${dhcp.reservations.length} reservations`,
    ...networks,
    ...foreignNetworks(settings, on).map((network) => `foreign    ${networkText(network)}: another DHCP server's`),
    `TFTP       ${tftp.enabled ? `${address}:69` : "off"}`,
    `HTTP       ${url}, ${agentUrl} for agents`,
    `syslog     ${syslog.enabled ? `${address}:514` : "off"}`,
    ...(api === undefined ? [] : [`API        https://${address}:${api.port}`]),
    ...Object.entries(images).map(([name, { file }]) => `ISO        ${url}/iso/${name}/ from ${file}`),
    ...Object.entries(files).map(([platform, file]) => `${platform.padEnd(10)} ${file}`),
    ...Object.entries(urls).map(([platform, file]) => `${`${platform} HTTP`.padEnd(10)} ${file}`),
    `trust      ${TRUSTED[settings.trust]}`,
    ...(authorities === undefined
      ? []
      : [`TPMs       of ${authorities.fingerprints.size} authorities in ${settings.tpmAuthorities}`]),
    `unknown    ${script}; at most ${discovery.most} hosts in namespace ${discovery.namespace}`,
    ...catalog.missing.map(({ file, effect, remedy }) => `missing    ${file}: ${effect}; ${remedy}`),
  ];
}
