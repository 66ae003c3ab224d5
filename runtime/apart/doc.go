// Package apart has plugins run apart from Tasks: for a Connector, which has its deliveries
// normalized, and for a hook, which asks what it is to say. Nothing of such a run is recorded: so a plugin
// reaches nothing there but what it is given, and the time and the randomness that it is told follow from
// that as well. Whoever has it run answers the calls that hand something in and out; a [Host] answers the others.
package apart
