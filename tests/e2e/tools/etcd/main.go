// Command etcd is the stock etcd server: upstream's own main package sits in a module that cannot be required.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
