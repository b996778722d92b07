// Annotates short histories of one key with porcupine's verdict (https://github.com/anishathalye/porcupine).
//
// Standard input and output: one JSON object per line, {"operations": [{"type": "put"|"delete"|"get", "begin", "end"
// (absent: no answer), "version" (absent: no value), "number"}]}; "linearizable" is added. Each effect that was seen is a
// write of its own, as docs/kvcache.md §1 says.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Type    string `json:"type"`
	Begin   int64  `json:"begin"`
	End     *int64 `json:"end,omitempty"`
	Version *int64 `json:"version,omitempty"`
	Number  int64  `json:"number"`
}

type history struct {
	Operations   []operation `json:"operations"`
	Linearizable bool        `json:"linearizable"`
}

type request struct {
	isWrite bool
	number  int64
}

// The state of the register is the number of its record.
var register = porcupine.Model{
	Init: func() interface{} { return int64(0) },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		asked := input.(request)
		if asked.isWrite {
			return true, asked.number
		}
		return output.(int64) == state.(int64), state
	},
}

func effects(operations []operation) []porcupine.Operation {
	var result []porcupine.Operation
	add := func(begin, end int64, asked request) {
		result = append(result, porcupine.Operation{ClientId: len(result), Input: asked, Call: begin, Output: asked.number, Return: end})
	}
	acknowledged := map[int64]bool{0: true}
	for _, op := range operations {
		if op.End == nil {
			continue
		}
		isWrite := op.Type != "get"
		add(op.Begin, *op.End, request{isWrite, op.Number})
		if isWrite {
			acknowledged[op.Number] = true
		}
	}
	for _, read := range operations {
		if read.End == nil || acknowledged[read.Number] {
			continue
		}
		acknowledged[read.Number] = true
		for _, write := range operations {
			if write.Type == "put" && read.Version != nil && *write.Version == *read.Version {
				add(write.Begin, math.MaxInt64, request{true, read.Number})
			}
		}
	}
	return result
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one history
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, "porcupine: line is no history:", err)
			os.Exit(1)
		}
		one.Linearizable = porcupine.CheckOperations(register, effects(one.Operations))
		text, _ := json.Marshal(one)
		fmt.Println(string(text))
	}
}
