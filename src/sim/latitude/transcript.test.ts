import { test } from "node:test";
import { sameTranscript } from "../transcript.ts";
import { DEFAULT_PROJECT, DEFAULT_TOKEN } from "./options.ts";
import { rig } from "./rig.ts";

const ORDER = `"project": "${DEFAULT_PROJECT.id}", "plan": "c2-small-x86", "site": "ASH", "operating_system": "ipxe", "ipxe": "https://boot.test/s"`;
const of = (attributes: string): string => `{"data": {"type": "x", "attributes": {${attributes}}}}`;

const REQUESTS = `
  GET /projects
  GET /projects?filter[slug]=none
  GET /projects?filter[name]=none
  GET /plans
  GET /regions
  GET /regions?page[size]=2&page[number]=2&stats[total]=count
  GET /regions?page[size]=0
  GET /ssh_keys
  GET /user_data
  POST /user_data ${of('"description": "d", "content": "IyEv"')} -> data
  POST /user_data ${of('"description": "d"')}
  POST /user_data ${of('"content": "IyEv"')}
  POST /user_data ${of('"description": "", "content": "IyEv"')}
  POST /user_data ${of('"description": "d", "content": "not base64!"')}
  wait 60
  PATCH /user_data/$data ${of('"content": "IyEvdQ=="')}
  PATCH /user_data/$data ${of("")}
  PATCH /user_data/another ${of("")}
  GET /user_data?filter[project]=${DEFAULT_PROJECT.slug}
  GET /user_data?filter[project]=another
  POST /servers ${of(`"hostname": "a", "user_data": "$data", "ssh_keys": ["k", 1], "billing": "monthly", ${ORDER}`)} -> a
  POST /servers ${of(`"hostname": "b", ${ORDER}`)} -> b
  POST /servers ${of(ORDER)}
  POST /servers ${of('"hostname": "n", "project": "another"')}
  POST /servers ${of(`"hostname": "n", ${ORDER.replace("ASH", "none")}`)}
  POST /servers ${of(`"hostname": "n", ${ORDER.replace("https", "ftp")}`)}
  POST /servers ${of(`"hostname": "n", ${ORDER.replace('"ipxe"', '"none"')}`)}
  POST /servers ${of(`"hostname": "n", "user_data": "none", ${ORDER}`)}
  POST /servers {"data": {}}
  POST /servers []
  POST /servers not-json
  GET /servers/$a
  wait 900
  GET /servers/$a
  GET /servers/another
  GET /servers?page[size]=1
  GET /servers?page[size]=1&page[number]=2&stats[total]=count
  GET /servers?filter[hostname]=b
  GET /servers?filter[region]=none
  GET /servers?filter[plan]=none
  GET /servers?filter[status]=none
  GET /servers?filter[label]=none
  GET /servers?filter[project]=none
  PATCH /servers/$a ${of('"hostname": "c"')}
  PATCH /servers/$a ${of("")}
  GET /servers/$a/deploy_config
  PATCH /servers/$a/deploy_config {"type": "deploy_config", "attributes": {"ipxe_url": "https://boot.test/t"}}
  PATCH /servers/$a/deploy_config {"type": "deploy_config", "attributes": {"user_data": "none"}}
  PATCH /servers/$b/deploy_config {"type": "deploy_config", "attributes": {"user_data": "$data"}}
  POST /servers/$a/actions ${of('"action": "dance"')}
  POST /servers/$a/actions ${of('"action": "power_off"')}
  wait 60
  GET /servers/$a
  POST /servers/$a/actions ${of('"action": "power_on"')}
  POST /servers/$a/actions ${of('"action": "reboot"')}
  wait 60
  GET /servers/$a
  POST /servers/$b/reinstall ${of('"operating_system": "ubuntu_22_04_x64_lts", "hostname": "d"')}
  POST /servers/$b/reinstall ${of('"operating_system": "none"')}
  GET /servers/$b
  wait 900
  GET /servers/$b
  POST /servers/$b/lock
  PATCH /servers/$b ${of('"hostname": "e"')}
  DELETE /servers/$b
  POST /servers/$b/unlock
  GET /virtual_networks
  GET /virtual_networks/assignments
  POST /virtual_networks/assignments ${of('"server_id": "$a"')}
  POST /virtual_networks/assignments ${of('"server_id": "none", "virtual_network_id": "none"')}
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": "vlan_ash"')} -> assigned
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": "vlan_ash"')}
  POST /virtual_networks/assignments ${of('"server_id": "$a", "virtual_network_id": "vlan_dal"')}
  GET /virtual_networks/assignments?filter[server]=$a
  GET /virtual_networks/assignments?filter[server]=none
  DELETE /virtual_networks/assignments/$assigned
  DELETE /virtual_networks/assignments/$assigned
  DELETE /servers/$a
  GET /servers/$a
  wait 900
  GET /servers/$a
  DELETE /user_data/$data
  DELETE /user_data/$data
  GET /nothing
  DELETE /projects
`;

test("what the simulated Latitude answers to each route, word for word", async () => {
  const { sim, clock } = rig();
  const [ash, dal] = [sim.addNetwork("ASH", "for a"), sim.addNetwork("DAL")];
  const requests = REQUESTS.replaceAll("vlan_ash", ash.id).replaceAll("vlan_dal", dal.id);
  await sameTranscript(new URL("transcript.txt", import.meta.url), requests, {
    wait: async (ms) => void (await clock.run(ms)),
    ask: (method, path, body) =>
      sim.handle({
        ...{ method: method as "GET", url: `https://latitude.test${path}`, remote: "192.0.2.1" },
        headers: { authorization: DEFAULT_TOKEN },
        ...(body !== undefined && { body }),
      }),
  });
});
