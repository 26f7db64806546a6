# Makes what the benchmark needs in the cluster, and a kubeconfig with Airflow's rights.
# usage: kubernetes-access.sh URL   (of the cluster's API, as its users reach it)
set -eu
kubectl() { command kubectl --kubeconfig=/admin/kubeconfig.yaml --server="$api" --cache-dir=/tmp/kubectl "$@"; }
api=$1
kubectl apply --kustomize /deploy/kubernetes

# Provisioned servers need DNS and volumes. k3s makes this class after its Deployments for both.
for attempt in $(seq 300); do
    ! kubectl get storageclass local-path > /dev/null 2>&1 || break
    [ "$attempt" != 300 ] || { echo "the cluster has no storage class local-path after 300 s" >&2; exit 1; }
    sleep 1
done
for deployment in $(kubectl get deployments --namespace=kube-system --output=name); do
    kubectl rollout status "$deployment" --namespace=kube-system --timeout=600s
done

authority=$(kubectl config view --raw --output='jsonpath={.clusters[0].cluster.certificate-authority-data}')
token=$(kubectl create token airflow --namespace=storebench --duration=8760h)
umask 027  # Airflow's processes are in the group root
cat > /access/kubeconfig.new << END
apiVersion: v1
kind: Config
current-context: storebench
contexts: [{name: storebench, context: {cluster: storebench, user: airflow, namespace: storebench}}]
clusters: [{name: storebench, cluster: {server: "$api", certificate-authority-data: "$authority"}}]
users: [{name: airflow, user: {token: "$token"}}]
END
mv /access/kubeconfig.new /access/kubeconfig
