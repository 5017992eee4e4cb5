import { createHash, X509Certificate } from "node:crypto";
import { credentialsOf } from "../../pki/tenant/credentials.ts";

export interface JoinSeed {
  userData: string;
  metaData: string;
}

export interface JoinFacts {
  /** Of the tenant's administrator, for its server and authority. */
  kubeconfig: string;
  token: string;
  /** Further files, by their paths on the machine. */
  files?: Readonly<Record<string, string>>;
}

/** What a machine is given at its boot so that it joins a tenant: in the words of Cluster API's bootstrap provider for kubeadm. */
export function joinSeed(machine: string, { kubeconfig, token, files }: JoinFacts): JoinSeed {
  const { server, caPem } = credentialsOf(kubeconfig)!;
  const userData = joinUserData({ server, caPem, token, ...(files !== undefined && { files }) });
  return { userData, metaData: `instance-id: ${machine}\nlocal-hostname: ${machine}\n` };
}

/** `server`: the cluster's API, as the machine reaches it. Its name is that of its metadata. */
export function joinUserData({
  server,
  caPem,
  token,
  files = {},
}: { server: string; caPem: string } & Omit<JoinFacts, "kubeconfig">): string {
  const key = new X509Certificate(caPem).publicKey.export({ type: "spki", format: "der" });
  return `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      discovery:
        bootstrapToken:
          apiServerEndpoint: ${new URL(server).host}
          caCertHashes:
          - sha256:${createHash("sha256").update(key).digest("hex")}
          token: ${token}
      kind: JoinConfiguration
      nodeRegistration:
        criSocket: unix:///var/run/containerd/containerd.sock
        # kubeadm gives containerd two seconds for its second answer; an emulated machine may take longer.
        ignorePreflightErrors: [CRI]
        name: '{{ ds.meta_data.local_hostname }}'
-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: "This placeholder file is used to create the /run/cluster-api sub directory"
${Object.entries(files).map(fileEntry).join("")}runcmd:
  - 'kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete'
`;
}

function fileEntry([path, content]: [string, string]): string {
  return `-   path: ${path}\n    content: ${JSON.stringify(content)}\n`;
}
