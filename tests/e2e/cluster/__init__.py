"""A Kubernetes control plane on this machine: real servers and controllers, simulated nodes, a stand-in network.

Real: etcd, API server, controller manager, scheduler, and the JobSet, Kueue and LeaderWorkerSet controllers with their
webhooks, installed by their own charts. Simulated: the kubelets (kwok), and between a Service and a controller's
process the cluster network (`network`) and the kubelet that runs it (`host`).
"""
