// Kubernetes as one multi-call binary: the code of its parts is almost all shared, so that one build of 140 MB takes the
// place of four. Call it by a link named after the part, or with the part's name as its first argument.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var parts = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	// The kubelet sets up its signal handling itself.
	"kubelet": func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	part := filepath.Base(os.Args[0])
	if parts[part] == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		part = os.Args[0]
	}
	command, known := parts[part]
	if !known {
		fmt.Fprintf(os.Stderr, "%s is none of the parts in this binary\n", part)
		os.Exit(2)
	}
	os.Exit(cli.Run(command()))
}
