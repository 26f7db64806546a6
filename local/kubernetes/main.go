// Kubernetes and etcd as one multi-call binary: their code is almost all shared, so that one build of 140 MB takes the
// place of six. Call it by a link named after the part, or with the part's name as its first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	// The kubelet sets up its signal handling itself.
	"kubelet": func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kubectl": kubectl.NewDefaultKubectlCommand,
}

func main() {
	part := filepath.Base(os.Args[0])
	if part != "etcd" && parts[part] == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		part = os.Args[0]
	}
	if part == "etcd" {
		etcdmain.Main(append([]string{"etcd"}, os.Args[1:]...))
		return
	}
	command, known := parts[part]
	if !known {
		fmt.Fprintf(os.Stderr, "%s is none of the parts in this binary\n", part)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
