// Package schema makes JSON Schemas from Go types, by their JSON tags: of host calls for
// the reference, and of REST resources for the OpenAPI document. What a type does not
// say, its user adds.
package schema
