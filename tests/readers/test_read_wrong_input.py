"""Every wrong file raises an error of one sentence with the file, row, column, value and remedy."""

import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest

from sampledash.command_line import main
from sampledash.readers import tables, trec, upload_limits
from sampledash.readers.files import read_rank_sets, read_sampled_ranks
from sampledash.readers.pasted import open_text, parse_rank_text, weights_of_text
from sampledash.readers.printed_table import read_printed
from sampledash.readers.upload_limits import DifferentInstances
from tests.hostile import npy, npz, saved
from tests.readers.reading import complaint, read, refused, sampled

HEADER = "system,user,rank,n\n"
SHORT = {
    "HEAD": HEADER,
    "RUN": "1 Q0 a 1 3.0 A\n1 Q0 b 2 2.0 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1e0 A\n",
    "QRELS": "1 0 b 1\n2 0 c 2\n2 0 x 0\n",
    "SAMPLED": "system,sampled_rank,n_candidates,m\nX,1,900,5\n",
    "ADAPTIVE": "system,sampled_rank,n,m,adaptive\nA,1,100,20,yes\nA,4,100,10",
    "NO_RANKS": "has no rank column … rank, or sampled_rank for ranks among sampled",
    "FORTY": "h" * 40,
    "LONG": "1000000000" * 4,
    "\\ud800": "\ud800",
    "TEN": "".join(f"{i},99,{90 - i}\n" for i in range(1, 11)),
    "\\n": "\n",
    "\\r": "\r",
    "\\t": "\t",
}

#: Sections begin with ``== call | facts in all messages | error class``. Each entry below is ``text
#: that the call gets as X | facts in the message``; || separates several entries in a line.
TABLE = r"""
== read(X) | ranks.csv
HEAD\nA,"two\nlines",1,9\n\n   \nA,v,99,9\n | line 7, column 'rank': rank 99
HEAD | ranks.csv has a header line but no rows || rank,count,n\n3,0,9\n4,0,9\n | every count is 0
system,user,score\nA,u,1\n | NO_RANKS … 'system', 'user', 'score'
user,n\nu,9\n | NO_RANKS … 'user', 'n'
count,A\n5,5\n | NO_RANKS … 'count', 'A'
ties,A\n0,5\n | NO_RANKS … found 'ties', 'A'. Name
a,b,c,d,e,f,g,h,i,j,k,l,m\nx,x,x,x,x,x,x,x,x,x,x,x,x\n | 'k', 'l' and 1 more. Name it
FORTY,FORTYi,\nx,x,x\n | found 'FORTY', 'FORTY', ''. Name it
user,n,A,B\nu,9,1,2\nv,9,3,7.5\n | line 3, column 'B': 7.5 is not a whole number … remove the
n,A\n2,1\n1,1\n | line 3, column 'n': n must be at least 2, got 1; correct it
user,n,A,B\nu,9,1,5%\nv,9,3,7%\n | line 2, column 'B': '5%' is not a number … remove the column
user,n,A,B\nu,9,1,\nv,9,3,\n | line 2, column 'B': the column is blank; write ranks, or remove the
;system,rank,n\n;A,1,9\n;A,2,9\n;B,3,9\n | column ';system': it may name systems … read as one
modell,A,B\nx,1,2\nx,2,2\ny,3,3\n | column 'modell': it may name systems, which would be read as
user,of,rank,n\nu,a,1,9\nu,b,2,9\nv,c,1,9\nv,d,2,9\nv,a,3,9\n | column 'of': it may name systems
system,user,rank,n\nA,u,1,9\nA,v,2,9\nTotal,,3,9\n | line 4, column 'user': the cell is blank
user,n,A,B\nu,9,1,2\nv,9,2,3\nTotal:,18,3,5\n | line 4, column 'user': 'Total:' seems to be no
system,rank,n\nA,1,9\nA,2,9\nMean,2,9\n | line 4, column 'system': 'Mean' seems to be no system
1,2,3\nX,1,74\n | line 1: the first line holds the number 1; add a header line such as
A,B,A\n1,2,3\n | ranks.csv, line 1: the column 'A' appears twice
user,user_id,rank\n1,1,3\n | 'user' and 'user_id' both mean 'instance' … keep one
HEADA,u,1,9\nA,u,2,8\n | instance 'u' … system 'A' … 9 and 8
HEADA,u,4,50\nA,u,>10,50\nA,u,>10,50\nA,u,4,50\n | line 5 … 'u' has rank 4 twice;
HEADB,u,1,9\nA,v,3,9\nB,u,1,9\nA,v,3,9\nA,u,5,9\nA,u,5,9\nA,u,4,9\nA,u,4,9\n
    | line 4 … system 'B', instance 'u' has rank 1 twice;
system,rank,n\nX,1,900\nX,2,1e13\n | line 3, column 'n': n must be at most 1,000,000,000,000, got
rank,n\n3,4611686018427387903\n | must be at most 1,000,000,000,000, got 4,611,686,018,427,387,903;
rank,n,ties\n3,9,6\n4,9,6\n | line 3, column 'ties': rank 4 with 6 others tied does not fit n = 9;
rank,n,ties\n3,9,0\n4,8,-1\n | line 3, column 'ties': rank 4 with -1 others tied does not fit n = 8
rank,n,mass_above\n1,9,0\n9,9,1\n3,9,1.5\n | line 4, column 'mass_above': 1.5 is no share; write a
rank,n,mass_above\n1,9,0\n3,9,-0.1\n | line 3, column 'mass_above': -0.1 is no share; write a number
rank,count,n\n3,0,9\n5,2,9\n\n12,1,9\n | line 5, column 'rank': rank 12
system,rank,n\nA,1,9\n\nA,0x3,9\n | line 4, column 'rank': '0x3' is not a number
system;rank;n\nA;1;9\nA;2.000;5000\n | ranks.csv, line 3: 2.000 may mean thousands … digits only
\nsystem;rank;n\nA;7;10.000\r\n | ranks.csv, line 3: 10.000 may mean thousands
system,rank,n\nA,1,9\nA,2\n | line 3, column 'n': the cell is blank
system,rank,n\nA,1,9\n ,2,9\n | line 3, column 'system': the cell is blank
HEADA,t,1,9\nA,"u,1,9\nA,v,2,9\n | ranks.csv, line 3 … quotation mark

== read(X, n=9) | ranks.csv
rank\n3\n12\n | line 3, column 'rank' … rank 12 … n = 9 … give a larger n
A,B\n1,2\n,3\n12,4\n | line 4, column 'A': rank 12
rank,count\n1,1\n3,-1\n | line 3, column 'count' … how many instances … -1 is below 0
rank,count\n1,1\n3,\n | line 3, column 'count' … how many instances … blank
rank,count\n1,1e15\n3,1.1e15\n | line 3, column 'count': 1100000000000000.0 is too large; write
rank,count\n3,1e-300\n4,1e-300\n | ranks.csv: counts of system 'ranks' sum to 2e-300
instance,rank,count\np,1,3\np,4,2\nq,2,4\n | instance 'p' … different counts

== read(X) | ranks.csv | ZeroBasedRanks
HEADA,u,4,9\nA,v,0,9\n | line 3, column 'rank' … count from 0 … add 1 … zero_based=True

== read(X, n=9, zero_based=True) | ranks.csv
rank\n0\n9\n | line 3, column 'rank': rank 9 counting from 0 is beyond the last of n = 9 candidates;
rank\n0\n>8\n | line 3, column 'rank': rank 9 counting from 0 is beyond the last of n = 9
rank\n0\n-1\n | line 3, column 'rank': rank -1 is below 0; correct it or remove the row
rank,ties\n0,8\n3,6\n | line 3, column 'ties': rank 3 with 6 others tied does not fit n = 9;
user,rank\nu,4\nu,3\nu,3\n | line 4, column 'rank': system 'ranks', instance 'u' has rank 3 twice

== read(X, n=9) | ranks.csv | DifferentInstances
system,rank,count\nA,1,3\nA,2,4\nB,5,8\n | 'A' has 7 instances and 'B' has 8; complete
system,rank,count\nA,1,1e6\nB,5,1000000.01\n | 'A' has 1,000,000 … and 'B' has 1,000,000.01;
user,A,B\nu,1,2\nv,,\nw,3,\n | 'w' has 1 relevant item in 'A' and 0 in 'B'. All share 1 of 2

== read(X) | ranks.csv | DifferentInstances
system,user,rank,count,n\nA,u,1,1,9\nA,v,2,1,9\nB,u,3,1,9\nB,w,4,1,9\n
    | 'v' has 1 relevant item in 'A' and 0 in 'B'
HEADA,u,1,9\nB,v,1,9\n
    | 'u' has 1 relevant item in 'A' and 0 … They share none: complete … instances="any"
HEADA,u,1,9\nA,u,2,9\nB,u,3,9\nB,u,4,9\nC,u,5,9\n | 'u' has 2 relevant items in 'A' and 1 in 'C'.
HEADS0,u0,1,9\nS1,u1,1,9\nS2,u2,1,9\nS3,u3,1,9\nS4,u4,1,9\nS5,u5,1,9\n
    | 'u0' has 1 relevant item in 'S0' and 0 in 'S1'

== read(X, n=9, instances="shared") | ranks.csv | DifferentInstances
HEADA,u,1,9\nB,v,1,9\n | share none
user,A,B\nu,1,\nv,,2\nw,,\n | share none
HEADA,u,1,9\nA,u,2,9\nB,u,3,9\n | 1 in 'B'. They share none: complete

== after_a_good_row(X) | ranks.csv, line 4
A,u,-3,9 | column 'rank' … -3 … below 1 … correct it || A,u,,9 | column 'rank' … blank … from 1
A,u,2.5,9 | column 'rank' … 2.5 … not a whole number … from 1
A,u,12,9 | column 'rank' … rank 12 … n = 9 … correct the rank, or give
A,u,first,9 | column 'rank' … 'first' is not a number … from 1
A,u,inf,9 | column 'rank' … inf … is not a number || A,u,True,9 | column 'rank' … True
A,u,NaN,9 | column 'rank' … 'NaN' is not a number … from 1
A,u,99999999999999999999,9 | column 'rank' … 1e+20 is too large
A,u,3, | column 'n' … blank … number of candidates
A,u,3,many | column 'n' … 'many' is not a number … number of candidates
A,u,1,1 | column 'n' … at least 2 … got 1 || A,,3,9 | column 'user' … blank … label of the user
,u,3,9 | column 'system' … blank … name of the system
A,u,> ten,9 | column 'rank': 'ten' is not a number
A,u,> -2,9 | column 'rank': rank -1 is below 1
A,u,> 9,9 | rank 10 is beyond the last of n = 9 || A,u,3,9,7 | 5 cells … 4 columns … quote

== read(X, "my.run", n=9, qrels=QRELS)
RUN2 Q0 b 3 0.5 A\n | line 5 … document 'b' … twice … query '2'
RUN2 Q0 d 3 high A\n | my.run, line 5, column 'score' … 'high' is not a number
RUN2 Q0 d 3 inf A\n | my.run, line 5, column 'score' … inf
RUN\n2 Q0 d 3 1\nRUNRUN | line 6: 5 fields || RUN2 Q0 d 3 1 A B\nRUN | line 5: 7 fields

== read(RUN, "my.run", n=9, qrels=X)
QRELS2 0 c 1\n | my.qrels, line 4 … document 'c' occurs twice for query '2'
QRELSQRELS2 0 d good\n | my.qrels, line 7, column 'relevance' … 'good'
1 0 a 0\n | my.qrels judges no document relevant || 7 0 a 1\n | share no query … '1' here, '7' there
RUN | my.qrels does not hold qrels; give lines 'query
rank,n\n3,9\n | my.qrels does not hold qrels; give lines 'query

== read("3 Q0 c 1 9 A\n" + RUN, "my.run", n=9, qrels=X)
9 0 a 1\n7 0 a 1 | share no query with a relevant document; do they … '3' here, '9' there

== read(X, "my.run", n=9)
RUN | my.run is a TREC run … qrels || QRELS | my.run says what is relevant, but ranks nothing

== parse_rank_text(X) | pasted text
A: 1 x 3 | system 'A', value 2 … 'x' is not a number … from 1
A: 1; B: 2.5 | system 'B', value 1 … 2.5 is not a whole number
A: 3 12; n = 9 | system 'A', value 2 … rank 12 … n = 9 … larger n
A: >>10, 4; n = 50 | value 1: … is not a number … or >10 for one
A: 3>10, 4; n = 50 | value 1: … is not a number … or >10 for one
A: 10,000 | system 'A', value 2 … '000' … without separators || 3 4\nA: 1 | '3 4' without a name
A: 99999999999999999999 | system 'A', value 1 || A: 1; A: 2 | system 'A' twice
A 1\n3 4 | 'A 1' without || 3\n4 5 | '3' without
A: | no ranks for system 'A' || A 3 4 | 'A 3 4' … NAME: ranks || 3 4\n5 6 | '3 4' … NAME: ranks
 | no ranks … A: 3, 17, 250 ||  ; \n | no ranks || n = 9 | no ranks
A: 3; n = many | 'n = many' without … n = 3706 || A: 3; n = 8; n = 9 | n twice, 8 and 9
system,rank\nA,x | line 2, column 'rank' … 'x' || system,rank | header line but no rows
n = 9\nsystem,rank\nA,3\nA,12\n | line 4, column 'rank': rank 12
model A: 5 6\nmodel B: 5 x | system 'model B', value 2: 'x' is not a number
run 1: 5 6\nrun 2: | no ranks for system 'run 2' || run 1: 5 6\nrun 2 | 'run 2' without a name

== open_text(X) | pasted text
n: 5 6\nB: 3 4 | has 'n: 5 6': write n = 3706, or give || n: 5,60 | another name
# hello\nA: 1 7 | '# hello' without a name
n = 1; A: 1 | n = 1: write … from 2 to 1,000,000,000,000 || m = 0; A: 1 | m = 0: write … from 1 to
n = 1000000000001; A: 1 | says n = 1000000000001 || seen,rank\n\ud800,x | line 2, column 'rank'
m = -1; A: 1 | says m = -1 … whole number from 1 || m = 9; m = 10; A: 1 | m twice, 9 and 10
m = 3\nn = 9\nsystem,sampled_rank,m\nA,1,3\nA,7,9 | line 5, column 'm' … says m = 9, but m = 3

== sampled(X, n=3000, m=99)
system,sampled_rank\nX,3\nX,-1\n | s.csv, line 3 … rank -1 is below 1
system,rank\nX,3\nX,2500\n | s.csv, line 3 … 2,500 … m + 1 = 100 … true ranks … Consistency
system,sampled_rank\nX,0.5\n | line 2 … 0.5 … whole number
system,sampled_rank,count\nX,1,-2\n | line 2 … -2 … below 0

== sampled(X) | s.csv
SAMPLEDX,1,900,-5 | line 3, column 'm' … m must be at least 1, got -5 … correct it
SAMPLEDX,1,1,5 | line 3, column 'n_candidates' … n must be at least 2, got 1
SAMPLEDX,7,900,3 | line 3 … m + 1 = 4 || ADAPTIVE,\n | line 3 … adaptive
SAMPLEDX,1,1e13,5
    | line 3, column 'n_candidates' … n must be at most 1,000,000,000,000, got 10,000,000,000,000
ADAPTIVE,maybe\n | line 3 … adaptive … 'maybe' is not yes or no
ADAPTIVE,no\n | line 3 … adaptive … system 'A' is said to be adaptive and not to be
system,sampled_rank,n,m\nX,3,50,9\nX,>5,50,9\n | line 3 … estimates need every sampled rank

== sampled(X, n=9, m=3) | s.csv
system,score\nX,0.5\n | NO_RANKS … 'system', 'score'
system,sampled_rank\nX,0\n | rank 0; the best is 1 … count from 0, add 1 to

== read_sampled_ranks(open_text(X)) | pasted text
SAMPLEDX,1,900,-5 | line 3, column 'm' … m must be at least 1, got -5 … correct it

== read_printed(X)
system, HR@10 | no values ||  | no values || Model,HR@10\nGain,0.5 | no values
\n1,2,3,4,5,6,7,8,9\nA,B | line 2 of the table names no metric: found '1', … '7', '8'; a line
Model Fame Shame\nX 1 2 | line 1 of the table names no metric: found 'Model', 'Fame', 'Shame'; a
A\nB\nC\nD\nModel,HR@1\nX,0.5 | line 1 of the table names no metric: found 'A'; a line
system, HR@10\n\nA, high | line 3, column 'HR@10' of the table: 'high' is not a number
system, HR@10\nA, 0.5, 0.6 | line 2 of the table has not one cell for each of the 2 columns that
system, HR@10\nA, 0.5\nB, 1.3\nC, 0.4 | line 2, column 'HR@10' of the table: 0.5 … 1.3 in line 3 is
system, HR@10\nA, 0.5\nA, 0.6 | line 3 of the table names 'A' again
Model,HR@10,H@10\nX,0.5,0.4 | a metric twice, HR@10, H@10: keep
m = 0\nModel,HR@10\nX,0.5 | the table says m = 0: write a whole number from 1
n = 9\nModel,HR@10\nX,0.5\nn = 10 | the table gives n twice, 9 and 10: keep one
Model,HR@10\nX,(0.4) | line 2, column 'HR@10' of the table: '(0.4)' is not || Model,MRR\nX,. | '.'
Model,HR@10\nX,-0.3 | line 2, column 'HR@10' of the table: '-0.3' is not in 0..100 %; correct
Model,HR@10\n\nX,100.01 % | line 3, column 'HR@10' of the table: '100.01 %' is not in 0..100
Model,HR@10\nX,66.2\nY,1 | 1 may be a fraction or
Model,HR@1,HR@9\nX,0.5,35%\nY,1.3,40% | line 2, column 'HR@1' … : 0.5 may … as 1.3 in line 3 is
Model,AUC,MRR\nX,1,7\nY,1,0.3 | line 2, column 'AUC' … : 1 may … percent, as 7 in line 2 is
Model,HR@10\nX,LONG9 | 'LONG' is not in 0..100 || Model,HR@10\n,LONG9\nX,1 | no name before 'LONG'

== read_printed(X) | line 2 of the table has no name before
Model,HR@1\n,0.5 | '0.5' || Model,Recall,AUC\n,@10,\nBPR,0.5,0.3 | '@10'
Model,HR@10,NDCG@\n,,10\nBPR,0.5,0.3 | '10'
Model,NDCG,MRR\n,10,10\nBPR,0.5,0.3 | '10'
Model\tAUC\tHit\n\t\tRatio@10\nA\t0.7\t0.2 | 'Ratio@10'
Model & Recall@10 & NDCG \\\n & & @10 \\\nBPR & 0.5 & 0.3 \\ | '@10'

== read_printed(X) | line 2 … : complete it, or separate the cells with tabs or commas
Model Hit Ratio@5 Fancy Score NDCG@5\nSASRec 0.3 0.4 0.2 | line 2
Model HR@5 NDCG@5\nSASRec 0.3 0.4 0.2 | line 2 || Model HR@5 NDCG@5\nSASRec 0.3 | line 2
Model HR@5 NDCG@5\nSASRec 0.3 high | of the 3 columns that line 1 names (Model, HR@5, NDCG@5)

== weights_of_text(X, 3, "weights")
4, 2, -1 | weights: prior of rank 3 is -1.0: weights are finite and not negative
1,3\n2,-1 | weights: prior of rank 2 is -1.0 || 1,3\n2,0\n1.5,1 | line 3: 1.5 is no rank
1,3\n4,1 | weights, line 2: 4 is no rank; write a whole number in 1..3
2,1\n3,1\n3,2 | weights gives rank 3 twice || 1,1e999\n2,0 | rank 1 is inf: weights are
rank,weight\n1,2\n2,3,4 | weights, line 3: write two numbers, a rank and its weight, such as 12,0.5
0.5\n1 | weights: prior has shape (2,): give one weight for each rank 1..3 || 0;0;0 | prior is zero
1 2 x | weights, line 1: 'x' is not a number; write weights as 0.5 or 2e-3
rank | weights holds no number: give a weight for each rank 1..3 || , | weights holds no number

== weights_of_text(int(X) * "1 ", 200_000)
200001 | pasted text holds 200,001 numbers, more than 200,000; give a weight

== weights_of_text(int(X) * " ", 3)
10000000 | holds no number || 10000001 | more than 10,000,000; round the weights
"""


def after_a_good_row(row):
    """Read a file with a header, a blank line, a good row, and ``row`` in line 4."""
    return read(f"{HEADER}\nA,t,1,9\n{row}\n")


READERS = (after_a_good_row, open_text, parse_rank_text, read, read_printed, sampled)
NAMES = {x.__name__: x for x in (*READERS, read_sampled_ranks, weights_of_text)} | SHORT
NAMES |= {x.__name__: x for x in (np.array, np.ones, np.zeros)}


def rows():
    for section in TABLE.replace("\n    | ", " | ").split("\n== ")[1:]:
        head, *texts = section.strip("\n").split("\n")
        call, every, kind = [*head.split(" | "), "", ""][:3]
        for text, facts in (case.split(" | ") for line in texts for case in line.split(" || ")):
            yield call, text, f"{every} … {facts}" if every else facts, kind


def filled(text):
    for name, value in SHORT.items():
        text = text.replace(name, value)
    return text


ROWS = list(rows())
assert len(ROWS) == len(set(ROWS)) > 150  # no entry of TABLE is lost or repeated


@pytest.mark.parametrize(("call", "text", "facts", "kind"), ROWS)
def test_what_is_refused(call, text, facts, kind, monkeypatch):
    names = {**NAMES, "X": filled(text)}
    which = getattr(upload_limits, kind or "ReadError")
    for small in (tables.SMALL, 0):  # with 0, the fast parser of large files is tried first
        for module in (tables, trec):
            monkeypatch.setattr(module, "SMALL", small)
        refused(lambda: eval(call, names), filled(facts), which)


def column(*values):
    return saved({"user": ["a", "b"], "rank": values, "n": [9, 9]})


NINE, PARQUET, THOUSAND = {"n": 9}, {"name": "x.parquet"}, saved({"rank": range(1000)})
BPR = NINE | {"name": "BPR.npy"}
WRONG = [
    ("run,rank\n" + "".join(f"u{i},3\n" for i in range(1001)), NINE, "1,001 systems … instance"),
    ("1 Q0 ü 1 3 A\n".encode("latin-1"), {"name": "my.run"}, "line 1: the text is not UTF-8"),
    ("user,rank\nu,3\nBjörn,4\n".encode("latin-1"), {},
     "ranks.csv, line 3 … not UTF-8 … 0xf6 … save it so"),
    (column(1.0, 2.5), PARQUET, "row 2, column 'rank': 2.5 is not a whole number"),
    (column(1.0, None), PARQUET, "row 2, column 'rank': the cell is blank"),
    (column("1", "x"), PARQUET, "row 2, column 'rank': 'x' is not a number"),
    (column(1, 12), PARQUET, "x.parquet, row 2, column 'rank': rank 12"),
    (b"ab\0\0cd", PARQUET, "neither text nor Parquet nor a numpy array"),
    (THOUSAND[:4] + b"\xff" * 60 + THOUSAND[64:], PARQUET, "x.parquet cannot be read as Parquet"),
    (saved({"rank": [], "n": []}), PARQUET, "x.parquet has columns but no rows"),
    (b"PAR1....PAR1", {}, "ranks.csv cannot be read as Parquet: it is damaged"),
    (b"rank\n\0\0\0\n", {}, "zero bytes"),
]  # fmt: skip
NAMED, LETTERS = ([("system", kind), ("rank", "i8")] for kind in ("U1", "S1"))
ARRAYS = [
    (np.array([("A", 3), ("A", 12)], NAMED), "BPR.npy, row 2, column 'rank': rank 12"),
    (np.array([1, np.inf]), "row 2, column 'rank': inf is not a number"),
    (np.array([np.nan]), "row 1, column 'rank': the cell is blank"),
    (np.array([[1, 2], [-4, 3]]), "row 2, column 'BPR 1': rank -4"),
    (np.array(3), "the shape ()"), (np.ones((2, 2, 2), dtype=int), "the shape (2, 2, 2)"),
    (np.array([], dtype=int), "is empty: its shape is (0,)"),
    (np.array([True, False]), "of the type bool"), (np.array(["a"]), "type <U1, not ranks"),
    (np.array([1j]), "complex128"),
    (np.array([[0.1, np.nan]]), "BPR.npy: neg, row 1, holds nan, which is no score"),
    (np.array([[0.1, 0.2]]), "BPR.npy holds sampled ranks (its columns say so)"),
    (np.array(["2020"], dtype="M8[D]"), "datetime64[D], not ranks"),
    (np.ones(2, np.longdouble), "BPR.npy holds values of the type"),
    (np.zeros(2, dtype=[("rank", np.longdouble)]), "field 'rank' holds neither numbers nor"),
    (np.zeros((2, 2), dtype=[("rank", "i8")]), "the shape (2, 2); save one dimension or two"),
    (np.zeros(2, dtype=[("rank", "i8", 2)]), "field 'rank' holds neither"),
    (np.zeros(2, dtype=[("rank", "M8[s]")]), "field 'rank' holds neither"),
    (np.array([(b"\xff", 1)], LETTERS), "nor text in UTF-8"),
    (np.zeros(2, dtype=[("score", "i8"), ("user", "i8"), ("ties", "i8")]), "no rank column"),
]  # fmt: skip
GOOD = npy(np.arange(1, 9))
HUGE = GOOD.replace(b"(8,), }", b"(999999999999,), }").replace(b" " * 11 + b"\n", b"\n")
assert len(HUGE) == len(GOOD)
SHADE = GOOD.replace(b"'shape'", b"'shade'")
NEGATIVE = GOOD.replace(b"(8,)", b"(-8,)").replace(b" \n", b"\n")
DAMAGED = (HUGE, GOOD[:-1], GOOD[:20], GOOD + b"\0", SHADE, NEGATIVE)
BLANK = [
    ({"rank": pa.nulls(2)}, "row 1, column 'rank': the cell is blank"),
    ({"system": pa.nulls(2), "rank": [1, 2]}, "row 1, column 'system': the cell is blank"),
    ({"A": pa.nulls(2)}, "has no rank column"),
    ({"user": [1, None], "rank": [1, 2]}, "row 2, column 'user': the cell is blank"),
]
SIGNATURES = {
    "a zip archive or an Excel workbook; save": b"PK\x03\x04|\xd0\xcf\x11\xe0",
    "a picture or a PDF document; save the table as CSV": b"\x89PNG|\xff\xd8\xff|GIF8|%PDF",
    "compressed, but not with gzip; save the table as CSV": b"BZh|\xfd7zXZ|\x28\xb5\x2f\xfd",
    "an Arrow file or a database; save the table as CSV": b"ARROW1|SQLite format 3",
    "text in UTF-16; save the table as CSV in UTF-8": b"\xff\xfe|\xfe\xff",
    "a web page, or a sheet saved as one; ": b" <!DOCTYPE html|<html|<table|<meta|<?xml",
    "JSON, but not JSON lines with one record": b'{"a"|{"pos": 1, "neg": [2, "x"]}',
    "JSON; save the table as CSV": b'[{"a"|[[1, 2]|{\n "A": [1]|[\n  {\n    "rank": 1',
}
EMPTY = [(x, name) for x in (b"", b"\n", b" \r\n \n") for name in ("x.parquet", "r.csv", "r")]
WRONG += [(npy(array), BPR, facts) for array, facts in ARRAYS]
ZIPS = [
    (dict(pos=[1.0], neg=[[np.inf]]), "S.npz: neg, row 1, holds inf"),
    (dict(pos=[None], neg=[[1]]), "S.npz cannot be read as a numpy archive: it is damaged"),
    (dict(a=[1.0]), "S.npz is a zip archive … or arrays pos and neg"),
    (dict(pos=[0.1], neg=np.zeros((2**25, 1))), "S.npz unpacks to more than 256 MiB; save scores"),
]
LISTS = [
    (
        {"pos": [1, 2], "neg": [[1, 2], [3]]},
        "row 2, column 'neg': 1 scores, but row 1 has 2; write",
    ),
    ({"pos": [1, 2], "neg": [[1], None]}, "row 2, column 'neg': 0 scores, but row 1 has 1"),
    ({"pos": [1, 2], "neg": [[1], [None]]}, "neg, row 2, holds nan"),
]
WRONG += [(npz(**arrays), {"name": "S.npz"}, facts) for arrays, facts in ZIPS]
WRONG += [(saved(pa.table(table)), PARQUET, facts) for table, facts in LISTS]
WRONG += [(data, BPR, "BPR.npy cannot be read … damaged or cut off") for data in DAMAGED]
WRONG += [(saved(table), PARQUET | NINE, facts) for table, facts in BLANK]
for _what, _begins in SIGNATURES.items():
    WRONG += [(x + b"....", {}, f"ranks.csv is {_what}") for x in _begins.split(b"|")]
WRONG += [(data, {"name": name}, f"{name} is empty … header") for data, name in EMPTY]


@pytest.mark.parametrize(("content", "options", "facts"), WRONG, ids=range(len(WRONG)))
def test_wrong_files(content, options, facts):
    complaint(content, facts=facts, **options)


def test_no_such_file(tmp_path):
    for source, said in (
        (tmp_path / "nowhere.csv", "'nowhere.csv': there is no such file"),
        (tmp_path, "holds no file *.parquet"),
        (5, "parse_rank_text"),
    ):
        refused(lambda source=source: read_rank_sets(source), said)


def test_a_missing_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ibis", None)
    assert main(["rank", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), "pip install 'sampledash[warehouse]'" in err) == ("", 1, True)
    (tmp_path / "part.parquet").touch()
    refused(lambda: read_rank_sets(tmp_path), "sampledash[warehouse]", ValueError)


COVER = HEADER + "".join(f"A,u{i},3,9\n" for i in range(8))
COVER += "".join(f"B,u{i},4,9\n" for i in (0, 1, 2, 8))


def test_different_instances():
    facts = "'u3' has 1 relevant item in 'A' and 0 in 'B'. All share 3 of 9"
    sentence = complaint(COVER, facts=f'{facts} … instances="shared"', kind=DifferentInstances)
    with pytest.raises(DifferentInstances) as info:
        read(COVER)
    ways = {"Compare the 3 instances they share": {"instances": "shared"}}
    for error in (info.value, pickle.loads(pickle.dumps(info.value))):
        assert (str(error), error.ways) == (sentence, ways)
    assert [len(s) for s in read(COVER, instances="any")] == [8, 4]
    said = "instances must be one of same, shared, any"
    refused(lambda: read(COVER, instances="some"), said, ValueError)
    for text, way, options in (
        (f"{HEADER}A,u,1,9\nA,u,2,9\nA,v,1,9\nB,u,4,9\nB,v,4,9\n",
         "Compare the 1 instance they share", {"instances": "shared"}),
        (f"{HEADER}A,u,1,9\nB,v,1,9\n", "Compare them as they are", {"instances": "any"}),
        ("rank,system,n\n3,A,9\n3,B,9\n4,B,9\n", "Compare them as they are", {"instances": "any"}),
    ):  # fmt: skip
        with pytest.raises(DifferentInstances) as info:
            read(text)
        assert info.value.ways == {way: options}
