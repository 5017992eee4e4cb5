// Does what users of packngo and equinix-sdk-go do, against a simulated Packet API. Prints one JSON object; exits with 1 at the first error.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/equinix/equinix-sdk-go/services/metalv1"
	"github.com/packethost/packngo"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func check(err error) { must(0, err) }

func main() {
	base, token, project := os.Args[1], os.Args[2], os.Args[3]
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"packngo": older(base, token, project), "sdk": newer(base, token, project)}))
}

func older(base, token, project string) map[string]any {
	client := must(packngo.NewClientWithBaseURL("slipway", token, http.DefaultClient, base+"/"))
	out := map[string]any{}
	var ids []string
	for i := 0; i < 12; i++ {
		device, _, err := client.Devices.Create(&packngo.DeviceCreateRequest{
			Hostname: fmt.Sprintf("go-%d", i), Plan: "c3.small.x86", Metro: "da", OS: "ubuntu_20_04", ProjectID: project,
			BillingCycle: "hourly", CustomData: `{"rack":1}`,
		})
		check(err)
		ids = append(ids, device.ID)
	}
	devices, _, err := client.Devices.List(project, nil)
	check(err)
	out["devices"] = len(devices)
	device, _, err := client.Devices.Get(ids[0], &packngo.GetOptions{Includes: []string{"facility", "ssh_keys"}})
	check(err)
	out["device"] = []any{device.Facility.Code, device.Metro.Code, device.CustomData["rack"]}
	name := "renamed"
	_, _, err = client.Devices.Update(ids[0], &packngo.DeviceUpdateRequest{Hostname: &name})
	check(err)
	address, _, err := client.ProjectIPs.Create(project, &packngo.IPReservationCreateRequest{
		Type: packngo.PublicIPv4, Quantity: 1, Metro: ptr("da"), FailOnApprovalRequired: true, Tags: []string{"vip"},
	})
	check(err)
	given, _, err := client.DeviceIPs.Assign(ids[0], &packngo.AddressStruct{Address: address.Address})
	check(err)
	out["address"] = given.Address == address.Address
	_, err = client.DeviceIPs.Unassign(given.ID)
	check(err)
	_, err = client.ProjectIPs.Remove(address.ID)
	check(err)
	_, err = client.BGPConfig.Create(project, packngo.CreateBGPConfigRequest{DeploymentType: "local", Asn: 65000})
	check(err)
	_, _, err = client.BGPSessions.Create(ids[0], packngo.CreateBGPSessionRequest{AddressFamily: "ipv4"})
	check(err)
	neighbors, _, err := client.Devices.ListBGPNeighbors(ids[0], nil)
	check(err)
	out["neighbors"] = len(neighbors)
	vlan, _, err := client.ProjectVirtualNetworks.Create(&packngo.VirtualNetworkCreateRequest{ProjectID: project, Metro: "da"})
	check(err)
	gateway, _, err := client.MetalGateways.Create(project, &packngo.MetalGatewayCreateRequest{VirtualNetworkID: vlan.ID, PrivateIPv4SubnetSize: 8})
	check(err)
	_, err = client.MetalGateways.Delete(gateway.ID)
	check(err)
	_, _, err = client.ProjectVirtualNetworks.Get(vlan.ID, nil)
	check(err)
	_, err = client.ProjectVirtualNetworks.Delete(vlan.ID)
	check(err)
	reservations, _, err := client.HardwareReservations.List(project, nil)
	check(err)
	out["reservations"] = len(reservations)
	systems, _, err := client.OperatingSystems.List()
	check(err)
	out["systems"] = len(systems) > 5
	facilities, _, err := client.Facilities.List(nil)
	check(err)
	out["facilities"] = len(facilities) > 5
	events, _, err := client.Events.List(&packngo.ListOptions{PerPage: 5})
	check(err)
	out["events"] = len(events) > 5
	for _, id := range ids {
		_, err := client.Devices.Delete(id, true)
		check(err)
	}
	return out
}

func newer(base, token, project string) map[string]any {
	configuration := metalv1.NewConfiguration()
	configuration.Servers = metalv1.ServerConfigurations{{URL: base}}
	configuration.AddDefaultHeader("X-Auth-Token", token)
	api := metalv1.NewAPIClient(configuration)
	ctx := context.Background()
	out := map[string]any{}
	input := metalv1.DeviceCreateInMetroInput{Metro: "da", Plan: "c3.small.x86", OperatingSystem: "ubuntu_20_04", Hostname: ptr("sdk")}
	device, _, err := api.DevicesApi.CreateDevice(ctx, project).CreateDeviceRequest(metalv1.CreateDeviceRequest{DeviceCreateInMetroInput: &input}).Execute()
	check(err)
	id := device.GetId()
	read, _, err := api.DevicesApi.FindDeviceById(ctx, id).Execute()
	check(err)
	facility := read.GetFacility()
	out["facility"] = facility.GetCode()
	request := metalv1.IPReservationRequestInput{Type: "public_ipv4", Quantity: 1, Metro: ptr("da"), Tags: []string{"vip"}}
	reserved, _, err := api.IPAddressesApi.RequestIPReservation(ctx, project).RequestIPReservationRequest(metalv1.RequestIPReservationRequest{IPReservationRequestInput: &request}).Execute()
	check(err)
	address := reserved.IPReservation.GetAddress()
	given, _, err := api.DevicesApi.CreateIPAssignment(ctx, id).IPAssignmentInput(metalv1.IPAssignmentInput{Address: address}).Execute()
	check(err)
	out["assigned"] = given.GetAddress() == address
	listed, _, err := api.IPAddressesApi.FindIPReservations(ctx, project).Execute()
	check(err)
	out["listed"] = len(listed.IpAddresses)
	_, err = api.IPAddressesApi.DeleteIPAddress(ctx, given.GetId()).Execute()
	check(err)
	_, err = api.IPAddressesApi.DeleteIPAddress(ctx, reserved.IPReservation.GetId()).Execute()
	check(err)
	config, _, err := api.BGPApi.FindBgpConfigByProject(ctx, project).Execute()
	check(err)
	out["asn"] = config.GetAsn()
	_, _, err = api.DevicesApi.CreateBgpSession(ctx, id).BGPSessionInput(metalv1.BGPSessionInput{AddressFamily: metalv1.BGPSESSIONINPUTADDRESSFAMILY_IPV4.Ptr()}).Execute()
	check(err)
	_, err = api.DevicesApi.DeleteDevice(ctx, id).ForceDelete(true).Execute()
	check(err)
	return out
}

func ptr[T any](value T) *T { return &value }
