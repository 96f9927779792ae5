package sqlstore

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Dialect is the one place that names how the engines' SQL differs.
//
// Statements have question marks for values, and words in braces:
//
//	{table term}      the engine's name of a table
//	{join}            a join whose order the statement gives
//	{conferenceof t}  joins the conference c of each row t of the table term, in the order of t
//	{placeof c}       joins its place p likewise
//	{by index}        names the index that is to be used, where the engine has no statistics
//	{has column r}    that the conference of a row r, c or t, has a value in a column that has an index of its own; where
//	                  {by index} names one, it is looked up in that index, which is smaller than the table
//	{keys}            a table of conferences from one value of type Keys: place, where keys have one, and key
//	{place a b}       that rows a and b are of one place, where keys begin with it, and AND
//	{sameday f s}     that rows f and s are of one day, where they have one, after AND
//	{indays f}        that a row f is of a day of a value of type Days, where rows have one, after AND
//	{key p}           the column of the place of a row p and a comma, where keys begin with it
//	{of p}            that a row p is of the place of a value of type Place, where keys begin with it, and AND
//	{first frame}     with {most}: that a row is one of the first of a table, as many as a value of type
//	{most}            Most says, where the engine deletes in steps
//	{fence}           ends an EXISTS that the engine is to evaluate as soon as it has the row that it is about, and not
//	                  before or later
type Dialect struct {
	Prefix string // of tables
	Join   string
	Keys   string
	Fence  string
	Days   bool // whether frames, chunks and sessions have a day
	Places bool // whether the keys of a conference's tables begin with its place
	Hints  bool // whether {by index} names one
	Steps  bool // whether {first} and {most} bound a statement
	// Numbered says that values are $1, $2, … in place of question marks, and Bytes that texts
	// are bytes and keys an array in place of JSON.
	Numbered, Bytes bool

	known sync.Map // statements by their text
}

// Text is a value of a column of text.
type Text string

// Keys is a value of {keys}: the keys of conferences, and the places that they are of.
type Keys struct{ Places, Keys []int64 }

// Days is a value of {indays}: the days whose partitions may hold what is asked for.
type Days []int32

// Place is a value of {of}.
type Place int64

// Most is a value of {most}.
type Most int64

// Fresh is the first value of a statement that an engine plans for its values alone, where the engine remembers plans.
type Fresh struct{}

// SQLite and Postgres are the dialects.
//
//nolint:gochecknoglobals // safe for concurrent use
var (
	SQLite   = &Dialect{Join: "CROSS JOIN", Keys: "(SELECT value AS key FROM json_each(?))", Fence: "LIMIT 1", Hints: true, Steps: true}
	Postgres = &Dialect{
		Prefix: "qos_", Join: "JOIN", Keys: "(SELECT * FROM unnest(?::bigint[], ?::bigint[]) u (place, key))", Fence: "OFFSET 0", Days: true, Places: true, Numbered: true, Bytes: true,
	}
)

var braces = regexp.MustCompile(`\{(\w+)(?: (\w+))?(?: (\w+))?\}`)

// SQL returns a statement as the engine takes it. Statements are constants or made of constants,
// so that as many are remembered as there are.
func (d *Dialect) SQL(statement string) string {
	if known, ok := d.known.Load(statement); ok {
		return known.(string)
	}
	sql := braces.ReplaceAllStringFunc(statement, func(word string) string {
		parts := braces.FindStringSubmatch(word)
		return d.word(parts[1], parts[2], parts[3])
	})
	if d.Numbered {
		sql = numbered(sql)
	}
	d.known.Store(statement, sql)
	return sql
}

func (d *Dialect) word(word, name, other string) string {
	column := func(name, column string) string { return strings.TrimPrefix(name+"."+column, ".") }
	when := func(has bool, sql string) string {
		if has {
			return sql
		}
		return ""
	}
	switch word {
	case "table":
		return d.Prefix + name
	case "join":
		return d.Join
	case "keys":
		return d.Keys
	case "fence":
		return d.Fence
	case "place":
		return when(d.Places, name+".place = "+other+".place AND")
	case "of":
		return when(d.Places, column(name, "place")+" = ? AND")
	case "key":
		return when(d.Places, column(name, "place")+",")
	case "sameday":
		return when(d.Days, "AND "+name+".day = "+other+".day")
	case "indays":
		return when(d.Days, "AND "+column(name, "day")+" = ANY (?::int[])")
	case "first":
		return when(d.Steps, "rowid IN (SELECT rowid FROM "+name+" WHERE")
	case "most":
		return when(d.Steps, "LIMIT ?)")
	case "has":
		return d.has(name, other)
	case "conferenceof":
		return d.joined("conference", "c", d.word("place", "c", name)+" c.key = "+name+".conference")
	case "placeof":
		return d.joined("place", "p", "p.key = "+name+".place")
	case "by":
		return when(d.Hints, "INDEXED BY "+name)
	}
	panic("statement has {" + word + "}")
}

// joined joins the one row of a table for which a condition holds, row by row of what stands before it. PostgreSQL takes the
// columns of a condition for independent, finds that a join by place and key has hardly any rows, and would read all of it
// where a page suffices: a subquery with OFFSET is joined as the statement says.
func (d *Dialect) joined(table, row, condition string) string {
	if !d.Places {
		return d.Join + " " + d.Prefix + table + " " + row + " ON " + condition
	}
	return "CROSS JOIN LATERAL (SELECT * FROM " + d.Prefix + table + " " + row + " WHERE " + condition + " OFFSET 0) " + row
}

func (d *Dialect) has(column, row string) string {
	value, some := " = ?", " <> ''"
	if column == "outcome" {
		some = " IS NOT NULL" // as its index says
	}
	if column == "failed" {
		column, value, some = "outcome", " IN (?, ?, ?)", " IS NOT NULL"
	}
	if !d.Hints {
		return "c." + column + value
	}
	key := map[string]string{"c": "key", "t": "conference"}[row]
	return "EXISTS (SELECT 1 FROM " + d.Prefix + "conference x INDEXED BY conference_" + column + " WHERE x." + column + value +
		" AND x." + column + some + " AND x.start_ms = " + row + ".start_ms AND x.key = " + row + "." + key + " " + d.Fence + ")"
}

func numbered(sql string) string {
	var out strings.Builder
	for n, part := range strings.Split(sql, "?") {
		if n > 0 {
			fmt.Fprintf(&out, "$%d", n)
		}
		out.WriteString(part)
	}
	return out.String()
}

// Values returns values as the engine's driver takes them.
func (d *Dialect) Values(values []any) []any {
	out := make([]any, 0, len(values)+1)
	for _, v := range values {
		switch v := v.(type) {
		case Text:
			if d.Bytes {
				out = append(out, []byte(v))
			} else {
				out = append(out, string(v))
			}
		case Keys:
			if d.Bytes {
				out = append(out, v.Places, v.Keys)
			} else {
				out = append(out, v.json())
			}
		case Days:
			if d.Days {
				out = append(out, []int32(v))
			}
		case Place:
			if d.Places {
				out = append(out, int64(v))
			}
		case Fresh:
			if d.Numbered {
				out = append(out, v)
			}
		case Most:
			if d.Steps {
				out = append(out, int64(v))
			}
		default:
			out = append(out, v)
		}
	}
	return out
}

// json is an array of the keys.
func (k Keys) json() string {
	text := []byte{'['}
	for i, key := range k.Keys {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, key, 10)
	}
	return string(append(text, ']'))
}
