import { join } from "node:path";
import { privateFolder, replacePrivateFile } from "@slipway/base";
import type { Draft } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { dump } from "js-yaml";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { DISCOVERY_NAMESPACE } from "../../netboot/settings.ts";
import type { BmcAccess, LabBmcs } from "./serve.ts";

/** Where a user finds what belongs to the BMCs. All files are the owner's alone. */
export interface BmcPapers {
  /** Secrets and BareMetalHosts, to be applied. */
  hosts: string;
  /** PEM of the certificates' authority. */
  authority: string;
  /** The password of a machine's BMC. */
  password(machine: string): string;
}

/** A machine as its administrator declares it, with its BMC. Pure. */
export function hostOf(
  {
    machine,
    url,
    username,
    password,
  }: Pick<BmcAccess, "url" | "username" | "password"> & {
    machine: Pick<BmcAccess["machine"], "spec">;
  },
  authority: string,
): { secret: Draft<Secret>; host: Draft<BareMetalHost> } {
  const { name, mac, firmware } = machine.spec;
  const namespace = DISCOVERY_NAMESPACE;
  const scheme = firmware === "uefi-http" ? "redfish-uefihttp" : "redfish";
  return {
    secret: { metadata: { name: `${name}-bmc`, namespace }, stringData: { username, password, "ca.crt": authority } },
    host: {
      metadata: { name, namespace },
      spec: {
        online: true,
        automatedCleaningMode: "metadata",
        bootMACAddress: mac,
        bmc: { address: url.replace(/^https/, scheme), credentialsName: `${name}-bmc` },
      },
    },
  };
}

/** Writes it all down in the folder, which is made, and takes the place of what an earlier lab left there. */
export async function writeBmcPapers(folder: string, { list, authority }: LabBmcs): Promise<BmcPapers> {
  privateFolder(folder);
  const papers: BmcPapers = {
    hosts: join(folder, "hosts.yaml"),
    authority: join(folder, "ca.crt"),
    password: (machine) => join(folder, `${machine}.password`),
  };
  const documents = list.flatMap((access) => {
    const { secret, host } = hostOf(access, authority);
    return [
      { apiVersion: "v1", kind: Secret.kind, ...secret },
      { apiVersion: `${BareMetalHost.group}/${BareMetalHost.version}`, kind: BareMetalHost.kind, ...host },
    ];
  });
  await replacePrivateFile(papers.hosts, documents.map((each) => dump(each)).join("---\n"));
  await replacePrivateFile(papers.authority, authority);
  for (const { machine, password } of list) await replacePrivateFile(papers.password(machine.spec.name), password);
  return papers;
}
