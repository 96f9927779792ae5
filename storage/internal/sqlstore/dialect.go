package sqlstore

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Dialect describes the differences between the engines' SQL.
//
// Statements have question marks for values, and words in braces:
//
//	{table term}      the engine's name of a table
//	{join}            a join in the order of the statement
//	{conferenceof t}  joins the conference c of each row t of the table term, in the order of t
//	{placeof c}       joins the row p of its conferenceID, likewise
//	{by index}        selects the index, if the engine has no statistics
//	{has column r}    whether the conference of a row r, c or t, has a value in a column that has its own index; if
//	                  {by index} selects one, the condition uses that index, which is smaller than the table
//	{keys}            a table of conferences from one value of type Keys: place, if keys have one, and key
//	{place a b}       whether rows a and b have the same place, if keys begin with it, and AND
//	{sameday f s}     whether rows f and s have the same day, if they have one, after AND
//	{indays f}        whether the day of a row f is in a value of type Days, if rows have one, after AND
//	{key p}           the column place of a row p and a comma, if keys begin with it
//	{of p}            whether the place of a row p is a value of type Place, if keys begin with it, and AND
//	{first frame}     with {most}: whether a row is one of the first rows of a table, as many as a value of type
//	{most}            Most, if the engine deletes in steps
//	{fence}           ends an EXISTS that the engine must evaluate when it has read the outer row, neither before nor
//	                  later
type Dialect struct {
	Prefix string // of tables
	Join   string
	Keys   string
	Fence  string
	Days   bool // frames, chunks and sessions have a day
	Places bool // the keys of a conference's tables begin with place
	Hints  bool // {by index} is used
	Steps  bool // {first} and {most} are used
	// Numbered: values are $1, $2, … instead of question marks. Bytes: texts are bytes and keys are an
	// array instead of JSON.
	Numbered, Bytes bool

	cache sync.Map // results of SQL, by statement
}

// Text is a value of a column of text.
type Text string

// Keys is a value of {keys}: the keys of conferences, and of their conferenceIDs.
type Keys struct{ Places, Keys []int64 }

// Days is a value of {indays}: the days whose partitions may hold the rows.
type Days []int32

// Place is a value of {of}.
type Place int64

// Most is a value of {most}.
type Most int64

// Fresh makes the engine plan the statement for its values instead of using a cached plan. It is the first value.
type Fresh struct{}

// SQLite and Postgres are the dialects. They are safe for concurrent use.
var (
	SQLite   = &Dialect{Join: "CROSS JOIN", Keys: "(SELECT value AS key FROM json_each(?))", Fence: "LIMIT 1", Hints: true, Steps: true}
	Postgres = &Dialect{
		Prefix: "qos_", Join: "JOIN", Keys: "(SELECT * FROM unnest(?::bigint[], ?::bigint[]) u (place, key))", Fence: "OFFSET 0", Days: true, Places: true, Numbered: true, Bytes: true,
	}
)

var braces = regexp.MustCompile(`\{(\w+)(?: (\w+))?(?: (\w+))?\}`)

// SQL returns a statement in the SQL of the engine. Results are cached without a bound, because statements are
// constants or composed of constants.
func (d *Dialect) SQL(statement string) string {
	if known, ok := d.cache.Load(statement); ok {
		return known.(string)
	}
	sql := braces.ReplaceAllStringFunc(statement, func(word string) string {
		parts := braces.FindStringSubmatch(word)
		return d.word(parts[1], parts[2], parts[3])
	})
	if d.Numbered {
		sql = numberPlaceholders(sql)
	}
	d.cache.Store(statement, sql)
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
		return d.joinRow("conference", "c", d.word("place", "c", name)+" c.key = "+name+".conference")
	case "placeof":
		return d.joinRow("place", "p", "p.key = "+name+".place")
	case "by":
		return when(d.Hints, "INDEXED BY "+name)
	}
	panic("statement has {" + word + "}")
}

// joinRow joins the one row of a table that fulfils a condition, in the order of the preceding rows. PostgreSQL
// estimates the columns of a condition as independent, so it expects hardly any rows of this join, and would read
// all of it when a page suffices. A subquery with OFFSET keeps the order of the statement.
func (d *Dialect) joinRow(table, row, condition string) string {
	if !d.Places {
		return d.Join + " " + d.Prefix + table + " " + row + " ON " + condition
	}
	return "CROSS JOIN LATERAL (SELECT * FROM " + d.Prefix + table + " " + row + " WHERE " + condition + " OFFSET 0) " + row
}

func (d *Dialect) has(column, row string) string {
	value, some := " = ?", " <> ''"
	if column == "outcome" {
		some = " IS NOT NULL" // the condition of its index
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

func numberPlaceholders(sql string) string {
	var out strings.Builder
	for n, part := range strings.Split(sql, "?") {
		if n > 0 {
			fmt.Fprintf(&out, "$%d", n)
		}
		out.WriteString(part)
	}
	return out.String()
}

// Values returns values in the types of the engine's driver.
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

// json returns the keys as a JSON array.
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
