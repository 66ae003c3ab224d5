package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Vaults says where the values of Vaults' secrets are.
type Vaults struct {
	Key   string // the name of a secret: age identities; "" for a key of the node's own
	Env   string // what begins the environment variables that Vaults may use; "" for none
	Files string // the folder of the files that Vaults may use; "" for none
}

func vaultSettings() []Setting {
	return []Setting{
		set("vaults.key", "", text(nil), func(c *Config) *string { return &c.Vaults.Key },
			"The name of the secret (one of secrets) that holds the key that values are encrypted with: age identities, a line each, as age-keygen writes them. The first encrypts, each of them decrypts. Empty: the node makes a key, keys/vault.age in the data folder, which backups hold too."),
		set("vaults.env", "", text(variablePrefix), func(c *Config) *string { return &c.Vaults.Env },
			"The prefix of the environment variables that vaults of the provider env may use. The secret NAME of a tenant is PREFIX, TENANT, two underscores and NAME, in capitals and with _ for - and the dot. Empty: there are no such vaults."),
		set("vaults.files", "", text(nil), func(c *Config) *string { return &c.Vaults.Files },
			"The folder of the files that vaults of the provider file may use. The secret NAME of a tenant is the file TENANT/NAME. Empty: there are no such vaults."),
	}
}

var prefixPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*_$`)

// variablePrefix accepts what sets a vault's variables apart from the others.
func variablePrefix(prefix string) error {
	if prefix == "" || prefixPattern.MatchString(prefix) && prefix != EnvPrefix {
		return nil
	}
	return fmt.Errorf("%q is no prefix such as VAULT_: letters, digits and _, with a _ at the end, and not %s", prefix, EnvPrefix)
}

func (c *checker) vaults(v Vaults) {
	config := &c.effective.Config
	exists(c, "vaults.key", "secret", v.Key, config.Secrets)
	for _, plugin := range slices.Sorted(maps.Keys(config.Grants)) {
		if v.Key != "" && slices.Contains(config.Grants[plugin].Secrets, v.Key) {
			c.report("grants."+plugin+".secrets", "names the secret %q, which is the key of the vaults: no plugin may have that", v.Key)
		}
	}
	if v.Key != "" && len(config.Secrets[v.Key].Connectors) > 0 {
		c.report("secrets."+v.Key+".connectors", "is set, and the secret is the key of the vaults: no connector may have that")
	}
}
