package sandbox

func (g *ground) take(l Limits) (*instance, error) {
	return g.newInstance(g.module.memoryLimit(l.MemoryBytes))
}

func (g *ground) put(inst *instance) { _ = inst.close() }
